import type { ProbotOctokit } from 'probot'
import { message } from '../../message/message.ts'
import { github } from './github-error.ts'
import type { Granted } from './read-permissions.ts'

/** What is known of an installation. */
export interface KnownInstallation {
  readonly id: number
  readonly account: string
  /** ISO time; '' where GitHub does not say. */
  readonly createdAt: string
  readonly granted: Granted
}

/** How GitHub describes one. */
export interface InstallationAnswer {
  readonly id: number
  readonly account: unknown
  readonly created_at?: string
  readonly permissions?: Granted
}

/** How long it is believed whose an installation is and what it may; tokens live an hour. */
const KNOWN_MS = 10 * 60 * 1000

/** Whose installations are and what they may, as GitHub said a while ago. */
export class KnownInstallations {
  readonly #app: InstanceType<typeof ProbotOctokit>
  readonly #known = new Map<number, KnownInstallation & { readonly until: number }>()

  constructor(app: InstanceType<typeof ProbotOctokit>) {
    this.#app = app
  }

  /** Keeps what GitHub just said. */
  note({ id, account, created_at: createdAt = '', permissions }: InstallationAnswer): KnownInstallation {
    const until = Date.now() + KNOWN_MS
    const known = { id, account: accountLogin(account), createdAt, granted: permissions ?? {}, until }
    this.#known.set(id, known)
    return known
  }

  /** What is known of one, asked for where that is nothing or too old. Throws `git-missing` where there is none. */
  async of(id: number): Promise<KnownInstallation> {
    const known = this.#known.get(id)
    return known && known.until > Date.now() ? known : this.present(id)
  }

  /** What GitHub says of one at this moment. Throws `git-missing` where there is none. */
  async present(id: number): Promise<KnownInstallation> {
    const { data } = await github(message`read installation ${id}`, () =>
      this.#app.rest.apps.getInstallation({ installation_id: id }),
    )
    return this.note(data)
  }
}

/** The login of an installation's account; '' for an enterprise, which has a slug and never is on the list of accounts. */
export function accountLogin(account: unknown): string {
  const login = typeof account === 'object' && account && 'login' in account ? account.login : undefined
  return typeof login === 'string' ? login : ''
}
