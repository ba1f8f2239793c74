import type { Config } from './config.ts'
import { openOAuth } from './github/client/open-oauth.ts'
import { openTtlStore } from './pages/open-shelf.ts'
import type { PageStore } from './pages/page-store.ts'
import type { Log } from './process/log.ts'
import { isLoopbackHost, isLoopbackUrl } from './process/loopback.ts'
import { closedGate, loopbackGate } from './web/gate.ts'
import { Pages, type PagesSettings } from './web/pages.ts'
import { PersonGate } from './web/person-gate.ts'
import { SESSION_LIMITS, Sessions } from './web/sessions.ts'
import { SignIn } from './web/sign-in.ts'

/** The pages of a site; `close` lets go of what they are kept in. */
interface SitePages {
  readonly pages: Pages
  close(): Promise<void>
}

/**
 * The pages, for people who sign in with GitHub. Without the App's OAuth they are for this machine only, and only where
 * nobody else comes in by loopback: a proxy does, so either the operator says so by a PUBLIC_URL of this machine, or
 * GitHub itself is on this machine, as in a rehearsal.
 */
export function openSitePages(
  config: Config,
  { store, queueDepths, log }: Pick<PagesSettings, 'queueDepths'> & { readonly store: PageStore; readonly log: Log },
): SitePages {
  const { clientId, clientSecret, publicUrl, githubApiUrl, redisUrl, redisPrefix } = config
  if (clientId === undefined || clientSecret === undefined || publicUrl === undefined) {
    const isOpen = isLoopbackHost(config.host) && isLoopbackUrl(publicUrl ?? githubApiUrl)
    const gate = isOpen ? loopbackGate : closedGate
    return { pages: new Pages({ store, gate, queueDepths }), close: () => store.close() }
  }
  const sessionStore = openTtlStore({ ...SESSION_LIMITS, redisUrl, prefix: redisPrefix, name: 'sessions', log })
  const sessions = new Sessions(sessionStore)
  const people = openOAuth({ clientId, clientSecret, apiUrl: githubApiUrl })
  const signIn = new SignIn(sessions, people, publicUrl)
  const pages = new Pages({ store, gate: new PersonGate(sessions, people), signIn, queueDepths })
  const close = async (): Promise<void> => {
    await sessions.close()
    await store.close()
  }
  return { pages, close }
}

/** Where checks say that their pages are: the public address, or this process where all of it is on this machine. */
export function pagesAddress({ publicUrl, host, githubApiUrl }: Config, here: string): string | undefined {
  return publicUrl ?? (isLoopbackHost(host) && isLoopbackUrl(githubApiUrl) ? here : undefined)
}
