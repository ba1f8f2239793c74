import { createHash, randomBytes } from 'node:crypto'
import type { App, User, World } from '../world.ts'

const TEN_MINUTES = 600_000
/** A user's token of an App lives eight hours, what renews it six months (docs, "Refreshing user access tokens"). */
const TOKEN_SECONDS = 28_800
const REFRESH_SECONDS = 15_897_600

interface Grant {
  readonly app: App
  readonly user: User
}

interface Code extends Grant {
  readonly redirectUri: string | undefined
  readonly challenge: string | undefined
  readonly expires: number
}

/** What is under way between people and apps: codes once given, tokens that renew others. */
export interface OAuthState {
  readonly codes: Map<string, Code>
  readonly refresh: Map<string, Grant & { readonly expires: number; readonly token: string }>
}

interface OAuthError {
  readonly error: string
  readonly error_description: string
}

const failure = (error: string, error_description: string): OAuthError => ({ error, error_description })

/** Whether an app may send people back there: to an address that it registered, or below one; to any when it has none. */
export function isCallback(app: App, redirectUri: string): boolean {
  if (app.callbackUrls.length === 0) return true
  const to = URL.parse(redirectUri)
  return app.callbackUrls.some(each => {
    const known = new URL(each)
    const below = to?.pathname === known.pathname || to?.pathname.startsWith(`${known.pathname.replace(/\/$/, '')}/`)
    return to !== null && to.origin === known.origin && below === true
  })
}

/** Gives a code, good once within ten minutes. */
export function giveCode(world: World, grant: Omit<Code, 'expires'>): string {
  const code = randomBytes(10).toString('hex')
  world.oauth.codes.set(code, { ...grant, expires: Date.now() + TEN_MINUTES })
  return code
}

/** Takes what `POST /login/oauth/access_token` was sent. GitHub answers 200 to wrong things too, with an `error`. */
export function exchange(world: World, sent: Readonly<Record<string, unknown>>) {
  const said = (name: string) => (typeof sent[name] === 'string' ? sent[name] : undefined)
  const app = [...world.apps.values()].find(each => each.clientId === said('client_id'))
  if (!app || app.clientSecret !== said('client_secret')) {
    return failure('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.')
  }
  if (said('grant_type') === 'refresh_token') return renew(world, app, said('refresh_token') ?? '')
  const code = world.oauth.codes.get(said('code') ?? '')
  world.oauth.codes.delete(said('code') ?? '')
  if (!code || code.app !== app || code.expires < Date.now() || !isProven(code.challenge, said('code_verifier'))) {
    return failure('bad_verification_code', 'The code passed is incorrect or expired.')
  }
  const redirectUri = said('redirect_uri')
  if (redirectUri !== undefined && redirectUri !== (code.redirectUri ?? redirectUri)) {
    const why = 'The redirect_uri MUST match the registered callback URL for this application.'
    return failure('redirect_uri_mismatch', why)
  }
  return giveToken(world, code)
}

/** PKCE, method S256: https://www.rfc-editor.org/rfc/rfc7636#section-4.6 */
function isProven(challenge: string | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined) return true
  return verifier !== undefined && createHash('sha256').update(verifier).digest('base64url') === challenge
}

function renew(world: World, app: App, refreshToken: string) {
  const known = world.oauth.refresh.get(refreshToken)
  if (!known || known.app !== app || known.expires < Date.now()) {
    return failure('bad_refresh_token', 'The refresh token passed is incorrect or expired.')
  }
  world.oauth.refresh.delete(refreshToken)
  world.tokens.delete(known.token)
  return giveToken(world, known)
}

/** A token with which the app acts in the person's name. */
export function giveToken(world: World, { app, user }: Grant) {
  const token = `ghu_${randomBytes(18).toString('hex')}`
  const refreshToken = `ghr_${randomBytes(38).toString('hex')}`
  world.tokens.set(token, { actor: { kind: 'user', user, app }, expires: Date.now() + TOKEN_SECONDS * 1000 })
  world.oauth.refresh.set(refreshToken, { app, user, token, expires: Date.now() + REFRESH_SECONDS * 1000 })
  return {
    ...{ access_token: token, expires_in: TOKEN_SECONDS, refresh_token: refreshToken },
    ...{ refresh_token_expires_in: REFRESH_SECONDS, token_type: 'bearer', scope: '' },
  }
}
