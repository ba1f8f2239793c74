import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readPagePath } from '../pages/page-address.ts'
import { signInFailed } from '../report/page/notice-page.ts'
import { answerPage, redirect } from './answer-page.ts'
import { cookieHeader, readCookie } from './cookies.ts'
import type { People } from './people.ts'
import { SESSION_COOKIE } from './person-gate.ts'
import type { Sessions } from './sessions.ts'

const SIGN_IN_COOKIE = 'bailiwick-sign-in'
const SIGN_IN_SECONDS = 600
/** The callback path of the App, to which GitHub redirects people. */
export const CALLBACK_PATH = '/login/callback'

/** What a browser carries between the way to GitHub and the way back. */
interface Attempt {
  readonly state: string
  /** Of PKCE (RFC 7636): a code is of no use to whoever has only the code. */
  readonly verifier: string
  readonly to: string
}

/** Sign-in and sign-out with GitHub's OAuth. Nothing is stored before the person returns from GitHub. */
export class SignIn {
  readonly #sessions: Sessions
  readonly #people: People
  readonly #publicUrl: string

  constructor(sessions: Sessions, people: People, publicUrl: string) {
    this.#sessions = sessions
    this.#people = people
    this.#publicUrl = publicUrl
  }

  /** Sends the browser to GitHub. */
  begin(response: ServerResponse, query: URLSearchParams): void {
    const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
    const attempt: Attempt = { state, verifier, to: ownPath(query.get('to')) }
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const cookie = Buffer.from(JSON.stringify(attempt)).toString('base64url')
    redirect(response, this.#people.signInUrl({ state, challenge, redirectUri: this.#redirectUri }), {
      'set-cookie': [cookieHeader(SIGN_IN_COOKIE, cookie, SIGN_IN_SECONDS)],
    })
  }

  /** Takes the browser back: its own attempt only, once. */
  async finish(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const attempt = readAttempt(readCookie(request, SIGN_IN_COOKIE))
    const over = cookieHeader(SIGN_IN_COOKIE, '', 0)
    const refuse = (why: string) => answerPage(request, response, 400, signInFailed(why), { 'set-cookie': [over] })
    if (!attempt || !isEqual(attempt.state, query.get('state') ?? '')) {
      return refuse(
        'This callback from GitHub does not match a sign-in that this browser started in the last ten minutes.',
      )
    }
    const code = query.get('code') ?? ''
    if (!/^[\w-]{1,200}$/.test(code)) return refuse('GitHub rejected the sign-in.')
    const { verifier, to } = attempt
    const person = await this.#people.exchange({ code, verifier, redirectUri: this.#redirectUri })
    const login = person && (await this.#people.login(person.token))
    if (!person || login === undefined) return refuse('This sign-in has expired on GitHub.')
    await this.#forget(request)
    const seconds = Math.min(person.seconds, 8 * 3_600)
    const id = await this.#sessions.open({ login, token: person.token, until: Date.now() + seconds * 1_000 })
    redirect(response, to, { 'set-cookie': [over, cookieHeader(SESSION_COOKIE, id, seconds)] })
  }

  /** Ends the session. Another site's form is refused: browsers say where a form comes from. */
  async signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers
    if (origin !== undefined && origin !== new URL(this.#publicUrl).origin) {
      return answerPage(request, response, 403, signInFailed('Only a page of this site can sign you out.'))
    }
    await this.#forget(request)
    redirect(response, '/login/out', { 'set-cookie': [cookieHeader(SESSION_COOKIE, '', 0)] })
  }

  async #forget(request: IncomingMessage): Promise<void> {
    const before = readCookie(request, SESSION_COOKIE)
    if (before !== undefined) await this.#sessions.end(before)
  }

  get #redirectUri(): string {
    return `${this.#publicUrl}${CALLBACK_PATH}`
  }
}

/** A longer query is left out: it would not fit into a cookie. */
const MAX_QUERY = 1_000

/** A page of ours to go back to, with its query; never another site. */
function ownPath(to: string | null): string {
  const base = 'http://pages.invalid'
  const url = to?.startsWith('/') ? URL.parse(to, base) : null
  if (!url || url.origin !== base || !readPagePath(url.pathname)) return '/'
  return url.search.length <= MAX_QUERY ? `${url.pathname}${url.search}` : url.pathname
}

function readAttempt(cookie: string | undefined): Attempt | undefined {
  if (cookie === undefined) return undefined
  try {
    const { state, verifier, to }: Partial<Record<keyof Attempt, unknown>> = JSON.parse(
      Buffer.from(cookie, 'base64url').toString(),
    )
    if (typeof state !== 'string' || typeof verifier !== 'string' || state.length < 20) return undefined
    return { state, verifier, to: ownPath(typeof to === 'string' ? to : null) }
  } catch {
    return undefined // whoever writes such a cookie is told what everybody without one is told
  }
}

function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map(text => createHash('sha256').update(text).digest())
  return first !== undefined && second !== undefined && timingSafeEqual(first, second)
}
