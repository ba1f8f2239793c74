import type { IncomingMessage } from 'node:http'
import { isWider } from '../fleet/model/visibility.ts'
import { readCookie } from './cookies.ts'
import type { PageAccess, Visitor } from './gate.ts'
import type { People, SeenRepository } from './people.ts'
import type { Session, Sessions } from './sessions.ts'

/** The cookie that holds the id of a session. */
export const SESSION_COOKIE = 'bailiwick'
/** How long GitHub's word on a repository is believed. */
const BELIEVED_MS = 60_000
const MAX_BELIEVED = 10_000

interface Belief {
  readonly repository: SeenRepository | undefined
  readonly until: number
}

/** Admits people who signed in with GitHub, to the repositories that GitHub let them read within the last minute. */
export class PersonGate implements PageAccess {
  readonly #sessions: Sessions
  readonly #people: People
  readonly #believed = new Map<string, Belief>()

  constructor(sessions: Sessions, people: People) {
    this.#sessions = sessions
    this.#people = people
  }

  async admit(request: IncomingMessage): Promise<Visitor | 'sign-in'> {
    const id = readCookie(request, SESSION_COOKIE)
    const session = id === undefined ? undefined : await this.#sessions.find(id)
    if (id === undefined || !session) return 'sign-in'
    const seen = async (owner: string, repo: string, made: Parameters<Visitor['mayRead']>[2]) => {
      const found = await this.#repository(id, session, owner, repo)
      if (!found || !made) return found
      const isSame = made.repositoryId === undefined || made.repositoryId === found.id
      return isSame && !isWider(found.visibility, made.visibility ?? 'private') ? found : undefined
    }
    return {
      login: session.login,
      mayRead: async (...asked) => (await seen(...asked)) !== undefined,
      mayMaintain: async (...asked) => (await seen(...asked))?.maintains === true,
    }
  }

  async #repository(
    session: string,
    { token }: Session,
    owner: string,
    repo: string,
  ): Promise<SeenRepository | undefined> {
    const key = JSON.stringify([session, owner.toLowerCase(), repo.toLowerCase()])
    const known = this.#believed.get(key)
    if (known && known.until > Date.now()) return known.repository
    const answer = await this.#people.repository(token, owner, repo)
    if (answer === 'signed-out') {
      await this.#sessions.end(session)
      throw new SignedOut()
    }
    const repository = answer === 'hidden' ? undefined : answer
    this.#believed.delete(key)
    this.#believed.set(key, { repository, until: Date.now() + BELIEVED_MS })
    for (const oldest of this.#believed.keys()) if (this.#believed.size > MAX_BELIEVED) this.#believed.delete(oldest)
    return repository
  }
}

/** GitHub no longer accepts the person's token, so they must sign in again. */
export class SignedOut extends Error {}
