import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** Where the printed URL leads: logs the browser in with the token behind `#` and goes on to the API's page. */
@ApiExcludeController()
@Controller()
export class LandingController {
  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Switchyard</title></head>
<body>
<h1>Switchyard</h1>
<form id="login"><label>Token <input name="token" type="password" autocomplete="current-password" required></label> <button>Log in</button></form>
<p id="said" role="status"></p>
<script src="/login.js"></script>
</body>
</html>
`;
  }

  @Get('login.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  script(): string {
    return `const form = document.getElementById('login');
async function logIn(token) {
  const answer = await fetch('/api/v1/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) });
  if (answer.ok) location.replace('/api/docs');
  else document.getElementById('said').textContent = (await answer.json()).error.message;
}
form.addEventListener('submit', (event) => { event.preventDefault(); logIn(new FormData(form).get('token')); });
const token = new URLSearchParams(location.hash.slice(1)).get('token');
// The token must not stay in the history.
history.replaceState(null, '', '/');
if (token) logIn(token);
`;
  }
}
