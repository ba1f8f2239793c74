interface FieldError {
  readonly resource: string
  readonly field: string
  readonly code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'unprocessable' | 'custom'
  readonly message?: string
}

/** An answer other than success, in GitHub's own form. */
export class HttpError extends Error {
  readonly status: number
  readonly errors: readonly (FieldError | string)[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    message: string,
    errors?: readonly (FieldError | string)[],
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.errors = errors
    this.headers = headers
  }

  body(): Record<string, unknown> {
    const documentation_url = 'https://docs.github.com/rest'
    return { message: this.message, errors: this.errors, documentation_url, status: String(this.status) }
  }
}

export const notFound = () => new HttpError(404, 'Not Found')

/** 422 for one field, as GitHub words it. */
export function invalid(resource: string, field: string, message?: string): HttpError {
  const error: FieldError = message
    ? { resource, field, code: 'custom', message }
    : { resource, field, code: 'invalid' }
  return new HttpError(422, 'Validation Failed', [error])
}
