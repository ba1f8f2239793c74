import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isWider, type Visibility } from '../../fleet/model/source-access.ts'
import { isLoopbackHost } from '../../process/environment.ts'
import type { PagePlace } from '../../report/outcome.ts'
import { signInFailed } from '../../report/page/home-page.ts'
import { readPagePath } from '../pages/page-address.ts'
import type { TtlStore } from '../pages/ttl-store.ts'
import { answerPage, redirect } from './answer.ts'

const SIGN_IN_COOKIE = 'bailiwick-sign-in'
const SIGN_IN_SECONDS = 600
/** The callback path of the App, to which GitHub redirects people. */
export const CALLBACK_PATH = '/login/callback'

/** What a browser keeps between the redirect to GitHub and the way back. */
interface Attempt {
  readonly state: string
  /** Of PKCE (RFC 7636): the code alone is useless. */
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

  /** Completes a sign-in: accepts only the browser's own attempt, once. */
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

  /** Ends the session. Refuses another site's form: browsers send the origin of a form. */
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

/** A path of ours to return to, with its query; never another site. */
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
    return undefined // an invalid cookie is treated like a missing one
  }
}

function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map(text => createHash('sha256').update(text).digest())
  return first !== undefined && second !== undefined && timingSafeEqual(first, second)
}

/** The cookie that holds the id of a session. */
const SESSION_COOKIE = 'bailiwick'
/** How long GitHub's answer about a repository is cached. */
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

/** A person who may view pages. */
export interface Visitor {
  /** Absent if sign-in is disabled. */
  readonly login?: string
  /**
   * Whether they may read the repository, by GitHub. `made`: what is read was made for the repository with this id, and
   * not for a later one of that name, and for its audience then, and not for a wider one now.
   */
  mayRead(owner: string, repo: string, made: MadeFor | undefined): Promise<boolean>
}

/** The audience of a page. */
type MadeFor = Pick<PagePlace, 'repositoryId' | 'visibility'>

/** Decides who may view pages. */
export interface PageAccess {
  /** `sign-in`: the person must sign in first; `off`: sign-in is not configured; `closed`: there are no pages for this address. */
  admit(request: IncomingMessage): Promise<Visitor | 'sign-in' | 'off' | 'closed'>
}

/** Headers that a proxy adds: a request with one is not from this machine. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/**
 * Admits only people on this machine, for a process that listens on loopback. A website could have its own name resolve
 * to this machine (DNS rebinding), so the requested host name must be local too.
 */
export const loopbackGate: PageAccess = {
  admit: async request => {
    const { host = '', ...headers } = request.headers
    const isHere = isLoopbackHost(host.replace(/:\d{1,5}$/, '')) && isLoopbackHost(request.socket.remoteAddress ?? '')
    return isHere && !FORWARDED.some(name => name in headers) ? EVERYTHING : 'closed'
  },
}

/** Admits no one: sign-in is not configured. */
export const closedGate: PageAccess = { admit: async () => 'off' }

const EVERYTHING: Visitor = { mayRead: async () => true }

/** The session of a signed-in person. */
interface Session {
  readonly login: string
  /** The person's user-to-server token; secret, and stored only here. */
  readonly token: string
  /** When it ends, in ms. */
  readonly until: number
}

/** Eight hours: the lifetime of GitHub's tokens. */
export const SESSION_LIMITS = { ttlMs: 8 * 3_600_000, maxBytes: 32 * 1024 * 1024 }

/**
 * Sessions by random id. Each is encrypted with a key derived from its id and stored under a hash of the id, so reading
 * the store gives access to neither session nor token.
 */
export class Sessions {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  /** Stores a session and returns its id. */
  async open(session: Session): Promise<string> {
    const id = randomBytes(32).toString('base64url')
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', keyFrom(id), nonce)
    const sealed = [nonce, cipher.update(JSON.stringify(session)), cipher.final(), cipher.getAuthTag()]
    await this.#store.put(placeOf(id), Buffer.concat(sealed))
    return id
  }

  /** Undefined for an unknown id or an ended session. */
  async find(id: string): Promise<Session | undefined> {
    const bytes = await this.#store.get(placeOf(id))
    if (!bytes) return undefined
    const decipher = createDecipheriv('aes-256-gcm', keyFrom(id), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    const session: Session = JSON.parse(text.toString('utf8'))
    return session.until > Date.now() ? session : undefined
  }

  end(id: string): Promise<void> {
    return this.#store.delete(placeOf(id))
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

function placeOf(id: string): string {
  return createHash('sha256').update(`place ${id}`).digest('hex')
}

function keyFrom(id: string): Buffer {
  return Buffer.from(hkdfSync('sha256', id, '', 'bailiwick session', 32))
}

/** Requests to GitHub on behalf of a person. Each throws `github-unavailable` if GitHub does not respond. */
interface People {
  /** The address where a browser signs in. */
  signInUrl(request: { readonly state: string; readonly challenge: string; readonly redirectUri: string }): string
  /** Exchanges a code for a token; undefined if GitHub rejects the code. */
  exchange(request: ExchangeRequest): Promise<PersonToken | undefined>
  /** The login of a token; undefined if it is not valid any more. */
  login(token: string): Promise<string | undefined>
  /** A repository as GitHub shows it to the person, or why it does not. */
  repository(token: string, owner: string, repo: string): Promise<SeenRepository | 'hidden' | 'signed-out'>
}

interface SeenRepository {
  readonly id: number
  readonly visibility: Visibility
}

interface ExchangeRequest {
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

/** A user-to-server token and its lifetime. */
interface PersonToken {
  readonly token: string
  readonly seconds: number
}

/** With this prefix a browser accepts a cookie only from this very host over https, so no other host can set one. */
const PREFIX = '__Host-'

/** Reads one of our cookies; undefined if it is absent or sent twice. */
function readCookie(request: IncomingMessage, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').slice(0, 8_192).split(';')
  const found = pairs.map(pair => pair.trim()).filter(pair => pair.startsWith(`${PREFIX}${name}=`))
  const value = found.length === 1 ? found[0]?.slice(PREFIX.length + name.length + 1) : undefined
  return value !== undefined && /^[\w-]{1,4096}$/.test(value) ? value : undefined
}

/**
 * Builds the header that sets a cookie; `maxAge` 0 removes it. Scripts cannot read it, and other sites send it only
 * with a link.
 */
function cookieHeader(name: string, value: string, maxAge: number): string {
  return `${PREFIX}${name}=${value}; Path=/; Max-Age=${Math.floor(maxAge)}; HttpOnly; Secure; SameSite=Lax`
}
