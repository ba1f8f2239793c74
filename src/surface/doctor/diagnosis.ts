/** The result of one check of an installation. */
export interface Diagnosis {
  /** `wrong`: it does not work; `weak`: it works in part; `unknown`: the check could not be made. */
  readonly state: 'ok' | 'weak' | 'wrong' | 'unknown'
  readonly check: 'settings' | 'app' | 'installation' | 'webhooks' | 'redis' | 'clusters'
  readonly message: string
  /** '' if there is nothing to do. */
  readonly fix: string
}

/** Creates the results of one check. */
export const entriesOf = (check: Diagnosis['check']) => ({
  ok: (message: string): Diagnosis => ({ state: 'ok', check, message, fix: '' }),
  bad: (state: 'weak' | 'wrong' | 'unknown', message: string, fix: string): Diagnosis => ({
    state,
    check,
    message,
    fix,
  }),
})
