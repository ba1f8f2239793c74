import type { ErrorCode } from '../../errors.ts'

/** Rule that forbids values which reach beyond the place that they are put into. */
export const INJECTION = 'substitution-injection'

/** Why a text cannot be substituted; the words of `flux-invalid` are those that Flux says. Never a value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly code: ErrorCode
  /** The rule that forbids it. */
  readonly rule: string | undefined

  constructor(message: string, code: ErrorCode = 'flux-invalid', rule?: string) {
    super(message)
    this.code = code
    this.rule = rule
  }
}
