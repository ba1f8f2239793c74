/** Why a pattern cannot be used: Go's regexp refuses it (`invalid`), or we do. */
export class PatternError extends Error {
  readonly invalid: boolean

  constructor(message: string, invalid: boolean) {
    super(message)
    this.invalid = invalid
  }
}

/** Throws for a pattern that Go's regexp refuses. */
export function refuseInvalid(what: string): never {
  throw new PatternError(what, true)
}
