import { configAnswerSchema } from '@switchyard/core/contracts';

import { AdminHarness } from '../testing/admin-harness.js';

describe('configuration over HTTP', () => {
  let admin: AdminHarness;
  beforeEach(async () => {
    admin = await AdminHarness.start();
  });
  afterEach(() => admin.close());

  const shown = async (): Promise<Map<string, { shown: string; source: { kind: string; label: string } }>> => {
    const { items } = configAnswerSchema.parse((await admin.get('/api/v1/config')).body);
    return new Map(items.map((item) => [item.name, item]));
  };
  const patch = (body: unknown) => admin.call('PATCH', '/api/v1/config', body);
  const policies = (): string[] => Object.values(admin.cluster.fleet.pools).map(({ policy }) => policy.name);

  it('is shown with the source of each value, secrets masked', async () => {
    const settings = await shown();
    expect(settings.get('admin-token')).toMatchObject({ shown: '********', value: '********', source: { kind: 'flag' } });
    expect(settings.get('port')).toMatchObject({ value: 8000, source: { kind: 'default', label: 'default' }, live: false });
    expect(settings.get('policy')).toMatchObject({ live: true });
  });

  it('changes policies while workers are there; roles that were not set follow the general one', async () => {
    admin.register('decode', 'http://10.0.0.2:8000');
    expect(policies()).toEqual(['cache_aware', 'power_of_two', 'cache_aware']);
    expect((await patch({ 'decode-policy': 'round_robin' })).status).toBe(200);
    expect(policies()).toEqual(['cache_aware', 'round_robin', 'cache_aware']);
    expect((await patch({ policy: 'least_load' })).status).toBe(200);
    expect(policies()).toEqual(['least_load', 'round_robin', 'least_load']);
    const settings = await shown();
    expect(settings.get('policy')).toMatchObject({ shown: 'least_load', source: { kind: 'admin', label: 'admin API' } });
    expect(settings.get('prefill-policy')).toMatchObject({ shown: 'least_load', source: { kind: 'default', label: 'default, from admin API' } });
    expect(settings.get('decode-policy')).toMatchObject({ shown: 'round_robin', source: { kind: 'admin' } });
    admin.finish(1, admin.begin(1, 'single'));
    expect((await admin.get('/api/v1/requests/r-1')).body.attempts[0].reason).toBe('only_candidate');
  });

  it('changes thresholds in place: what a policy has learnt stays', async () => {
    admin.register('regular', 'http://10.0.0.1:8000');
    const before = admin.cluster.fleet.pools.prefill.policy;
    const answer = await patch({ 'cache-threshold': 0.75, 'balance-abs-threshold': 3, 'balance-rel-threshold': 2 });
    expect(answer.status).toBe(200);
    expect(admin.cluster.fleet.pools.prefill.policy).toBe(before);
    expect(before).toMatchObject({ options: { cacheThreshold: 0.75, balanceAbsThreshold: 3, balanceRelThreshold: 2 } });
    expect((await shown()).get('cache-threshold')).toMatchObject({ value: 0.75, source: { kind: 'admin' } });
  });

  it('audits a change with what was before', async () => {
    await patch({ policy: 'random', 'cache-threshold': 0.5 });
    expect((await admin.get('/api/v1/events?type=config')).body.items).toEqual([
      expect.objectContaining({
        actor: 'operator',
        detail: { policy: 'random', 'policy before': 'cache_aware', 'cache-threshold': 0.5, 'cache-threshold before': '0.3' },
      }),
    ]);
  });

  it.each([
    [{ policy: 'best' }, 'policy'],
    [{ 'cache-threshold': 1.5 }, 'cache-threshold'],
    [{ 'cache-threshold': '0.5' }, 'cache-threshold'],
    [{ 'balance-abs-threshold': 0.5 }, 'balance-abs-threshold'],
    [{ 'balance-rel-threshold': 0.5 }, 'balance-rel-threshold'],
    [{ port: 1 }, 'port'],
    [{ policy: 'random', nonsense: 1 }, 'nonsense'],
    [{}, 'nothing to change'],
  ])('refuses %j as a whole', async (body, named) => {
    const { status, body: answer } = await patch(body);
    expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.error.message).toContain(named);
    expect(policies()).toEqual(['cache_aware', 'power_of_two', 'cache_aware']);
    expect((await admin.get('/api/v1/events?type=config')).body.items).toEqual([]);
  });
});
