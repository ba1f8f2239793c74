import type { Heard } from './heard.ts'
import { lookAtAll } from './look-at-all.ts'

const BEGINS = ['created', 'unsuspend', 'new_permissions_accepted']

/** The App may work in an account (again, or with more rights): the first report, and all that is open there. */
export const installation: Heard<'installation'> = {
  event: 'installation',
  jobs: ({ action }, place) => (BEGINS.includes(action) ? lookAtAll(place) : []),
}
