import type { ErrorCode } from '../../errors.ts'

/** Why a text cannot be substituted; the words of `flux-invalid` are those that Flux says. Never a value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly code: ErrorCode

  constructor(message: string, code: ErrorCode = 'flux-invalid') {
    super(message)
    this.code = code
  }
}
