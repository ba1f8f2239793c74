/** What one check of an installation found. */
export interface Diagnosis {
  /** `wrong`: it does not work; `weak`: something of it does not; `unknown`: it could not be asked. */
  readonly state: 'ok' | 'weak' | 'wrong' | 'unknown'
  readonly check: 'settings' | 'app' | 'installation' | 'redis' | 'clusters'
  readonly message: string
  /** '' where there is nothing to do. */
  readonly fix: string
}

/** Makes the entries of one check. */
export const entriesOf = (check: Diagnosis['check']) => ({
  ok: (message: string): Diagnosis => ({ state: 'ok', check, message, fix: '' }),
  bad: (state: 'weak' | 'wrong' | 'unknown', message: string, fix: string): Diagnosis => ({
    state,
    check,
    message,
    fix,
  }),
})
