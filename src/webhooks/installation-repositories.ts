import type { Heard } from './heard.ts'
import { lookAtAll } from './look-at-all.ts'

/** Repositories that came are evaluated; one that went may have been the source of a fleet. */
export const installationRepositories: Heard<'installation_repositories'> = {
  event: 'installation_repositories',
  jobs: (_, place) => lookAtAll(place),
}
