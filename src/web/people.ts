import type { Visibility } from '../fleet/model/visibility.ts'

/** Requests to GitHub on behalf of a person. Each throws `github-unavailable` if GitHub does not respond. */
export interface People {
  /** Where the person's browser goes to sign in. */
  signInUrl(request: { readonly state: string; readonly challenge: string; readonly redirectUri: string }): string
  /** The token that a code stands for; undefined for a code that GitHub does not take. */
  exchange(request: ExchangeRequest): Promise<PersonToken | undefined>
  /** Whose token it is; undefined for one that is no longer good. */
  login(token: string): Promise<string | undefined>
  /** A repository as GitHub says it is, or why the person does not get it. */
  repository(token: string, owner: string, repo: string): Promise<SeenRepository | 'hidden' | 'signed-out'>
}

export interface SeenRepository {
  readonly id: number
  readonly visibility: Visibility
  /** Whether their role there is maintain or admin. */
  readonly maintains: boolean
}

interface ExchangeRequest {
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

/** A user-to-server token, and for how long it holds. */
interface PersonToken {
  readonly token: string
  readonly seconds: number
}
