/** An answer that refuses a request, as vLLM words it. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

/** 400 from the engine's own checks. */
export function badRequest(message: string, param: string | null = null): ApiError {
  return new ApiError(400, 'BadRequestError', message, param);
}

/** 400 from the schema of the request, before the engine looks at it. */
export function schemaError(field: string, type: string, message: string): ApiError {
  return new ApiError(400, 'Bad Request', `[{'type': '${type}', 'loc': ('body', '${field}'), 'msg': '${message}'}]`);
}

export function modelNotFound(model: string): ApiError {
  return new ApiError(404, 'NotFoundError', `The model \`${model}\` does not exist.`, 'model');
}

/** vLLM's error body. */
export function errorBody(status: number, type: string, message: string, param: string | null = null): string {
  return JSON.stringify({ error: { message, type, param, code: status } });
}
