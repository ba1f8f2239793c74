import type { IncomingMessage, ServerResponse } from 'node:http'
import { BailiwickError } from '../../base/errors.ts'
import { readFleetQuery } from '../../report/page/fleet-query.ts'
import { homePage, nothingHere, noticePage, type PageEntry, signedOut, signInOff } from '../../report/page/home-page.ts'
import { renderCheckPage } from '../../report/page/render-check-page.ts'
import { renderClusterPage } from '../../report/page/render-cluster-page.ts'
import { type QueueRow, renderFleetPage } from '../../report/page/render-fleet-page.ts'
import { renderGraphPage } from '../../report/page/render-graph-page.ts'
import { type PageAddress, readPagePath } from '../pages/page-address.ts'
import type { PageStore } from '../pages/page-store.ts'
import { answerPage, redirect, refuseRequest } from './answer.ts'
import { CALLBACK_PATH, type PageAccess, SignedOut, type SignIn, type Visitor } from './sign-in.ts'

export interface PagesSettings {
  readonly store: PageStore
  readonly gate: PageAccess
  /** Absent if sign-in is disabled. */
  readonly signIn?: SignIn
  readonly queueDepths: () => Promise<readonly QueueRow[]>
}

/** How many repositories the list of pages looks up on GitHub for one reader at one time. */
const MAX_ASKED = 30

/** The pages for people. Without permission to read the repository, the response is the same as for a missing page. */
export class Pages {
  readonly #settings: PagesSettings

  constructor(settings: PagesSettings) {
    this.#settings = settings
  }

  /** Answers requests for pages; false for another path or method, which is left to the caller. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const url = URL.parse(request.url ?? '/', 'http://pages.invalid')
    if (!url) {
      await refuseRequest(request, response, 400)
      return true
    }
    const { pathname: path, searchParams: query } = url
    const { gate } = this.#settings
    const address = readPagePath(path)
    const isEntrance = path === '/' || path === '/logout' || path.startsWith('/login')
    if (!address && !isEntrance) return false
    const reader = await gate.admit(request)
    if (reader === 'closed' || (reader === 'off' && !isRead(request))) return false
    if (reader === 'off') {
      await answerPage(request, response, 404, signInOff())
      return true
    }
    if (isEntrance && path !== '/') return this.#enter(path, request, response, query)
    if (!isRead(request)) {
      await refuseRequest(request, response, 405)
      return true
    }
    if (reader === 'sign-in')
      redirect(response, address ? `/login?to=${encodeURIComponent(`${path}${url.search}`)}` : '/login')
    else await this.#show(request, response, reader, address, query).catch(error => failed(error, request, response))
    return true
  }

  /** Refuses a request that nothing else answers, without revealing what exists. */
  async refuse(request: IncomingMessage, response: ServerResponse, status: 404 | 500): Promise<void> {
    await refuseRequest(request, response, status)
  }

  async #enter(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Promise<boolean> {
    const { signIn } = this.#settings
    if (!signIn) return false
    if (path === '/logout' && request.method === 'POST') await signIn.signOut(request, response)
    else if (request.method !== 'GET') return false
    else if (path === '/login') signIn.begin(response, query)
    else if (path === '/login/out') await answerPage(request, response, 200, signedOut())
    else if (path === CALLBACK_PATH)
      await signIn.finish(request, response, query).catch(error => failed(error, request, response))
    else return false
    return true
  }

  async #show(
    request: IncomingMessage,
    response: ServerResponse,
    reader: Visitor,
    address: PageAddress | undefined,
    query: URLSearchParams,
  ): Promise<void> {
    const person = reader.login === undefined ? undefined : { login: reader.login }
    if (!address) return answerPage(request, response, 200, homePage(await this.#readable(reader), person))
    const page = await this.#render(address, reader, person, query)
    return answerPage(request, response, page === undefined ? 404 : 200, page ?? nothingHere(person))
  }

  async #render(
    address: PageAddress,
    reader: Visitor,
    person: { readonly login: string } | undefined,
    query: URLSearchParams,
  ): Promise<string | undefined> {
    const { store, queueDepths } = this.#settings
    const { owner, repo } = address
    // asks GitHub before the store, so that response times do not reveal whether there is a page
    if (!(await reader.mayRead(owner, repo, undefined))) return undefined
    if (address.kind === 'check') {
      const page = await store.check(owner, repo, address.sha, address.check)
      if (!page || !(await reader.mayRead(owner, repo, page))) return undefined
      return renderCheckPage(page, person)
    }
    if (address.kind === 'cluster') {
      const page = await store.cluster(owner, repo, address.cluster)
      if (!page || !(await reader.mayRead(owner, repo, page))) return undefined
      return renderClusterPage(page, { reader: person, page: Number(query.get('page') ?? 1) })
    }
    const page = await store.fleet(owner, repo)
    if (!page || !(await reader.mayRead(owner, repo, page))) return undefined
    if (address.kind === 'graph') return renderGraphPage(page, { reader: person, query: readFleetQuery(query) })
    const queue = await queueDepths().catch(() => undefined) // the page shows that the queue does not respond
    const pulls = await store.pulls(owner, repo)
    const look = { reader: person, query: readFleetQuery(query), queue, pulls }
    return renderFleetPage(page, look)
  }

  async #readable(reader: Visitor): Promise<readonly PageEntry[]> {
    const entries = await this.#settings.store.list()
    const groups = Map.groupBy(entries, ({ owner, repo, repositoryId, visibility }) =>
      JSON.stringify([owner, repo, repositoryId, visibility]),
    )
    const asked = [...groups.values()].slice(0, MAX_ASKED)
    const allowed = await Promise.all(
      asked.map(async group => {
        const { owner = '', repo = '', ...made } = group[0] ?? {}
        return (await reader.mayRead(owner, repo, made)) ? group : []
      }),
    )
    const shown = new Set(allowed.flat())
    return entries.filter(entry => shown.has(entry))
  }
}

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD'

async function failed(error: unknown, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (error instanceof SignedOut) return redirect(response, '/login')
  if (!(error instanceof BailiwickError) || error.code !== 'github-unavailable') throw error
  const text = noticePage(
    'GitHub does not respond',
    'Bailiwick asks GitHub at each view who can read this repository. Try again in a moment.',
  )
  return answerPage(request, response, 503, text, { 'retry-after': '30' })
}
