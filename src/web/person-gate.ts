import type { IncomingMessage } from 'node:http'
import { readCookie } from './cookies.ts'
import type { Gate, Reader } from './gate.ts'
import type { People } from './people.ts'
import type { Session, Sessions } from './sessions.ts'

/** The cookie that holds the id of a session. */
export const SESSION_COOKIE = 'bailiwick'
/** How long GitHub's word on a repository is believed. */
const BELIEVED_MS = 60_000
const MAX_BELIEVED = 10_000

interface Belief {
  readonly id: number | undefined
  readonly until: number
}

/** Lets people in who signed in with GitHub, and shows them what GitHub lets them read, as of the last minute. */
export class PersonGate implements Gate {
  readonly #sessions: Sessions
  readonly #people: People
  readonly #believed = new Map<string, Belief>()

  constructor(sessions: Sessions, people: People) {
    this.#sessions = sessions
    this.#people = people
  }

  async admit(request: IncomingMessage): Promise<Reader | 'sign-in'> {
    const id = readCookie(request, SESSION_COOKIE)
    const session = id === undefined ? undefined : await this.#sessions.find(id)
    if (id === undefined || !session) return 'sign-in'
    return {
      login: session.login,
      mayRead: async (owner, repo, wanted) => {
        const found = await this.#repository(id, session, owner, repo)
        return found !== undefined && (wanted === undefined || found === wanted)
      },
    }
  }

  async #repository(session: string, { token }: Session, owner: string, repo: string): Promise<number | undefined> {
    const key = JSON.stringify([session, owner.toLowerCase(), repo.toLowerCase()])
    const known = this.#believed.get(key)
    if (known && known.until > Date.now()) return known.id
    const answer = await this.#people.repository(token, owner, repo)
    if (answer === 'signed-out') {
      await this.#sessions.end(session)
      throw new SignedOut()
    }
    const id = answer === 'hidden' ? undefined : answer
    this.#believed.delete(key)
    this.#believed.set(key, { id, until: Date.now() + BELIEVED_MS })
    for (const oldest of this.#believed.keys()) if (this.#believed.size > MAX_BELIEVED) this.#believed.delete(oldest)
    return id
  }
}

/** GitHub does not take the person's token any more: they have to sign in again. */
export class SignedOut extends Error {}
