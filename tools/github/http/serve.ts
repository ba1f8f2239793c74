import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Actor, fullName, type Repository, type World } from '../world.ts'
import { authenticate } from './authenticate.ts'
import { checkRequest } from './check-request.ts'
import { description } from './description.ts'
import { HttpError, notFound } from './http-error.ts'
import { compile, match } from './match.ts'
import { Moved, permit, permitGlobal, permittedOrganization, visibleRepository } from './permit.ts'
import { RateLimit } from './rate-limit.ts'
import { parseBody, readBody } from './read-body.ts'
import type { Call, Reply, Route } from './route.ts'
import { unheeded } from './supported-query.ts'
import { type Trouble, type TroubleKind, troubledReply } from './trouble.ts'
import { isUnchanged, writeReply } from './write-reply.ts'

interface LoggedRequest {
  readonly method: string
  readonly path: string
  /** The path as GitHub describes it ('/repos/{owner}/{repo}'), or '?' when it is unknown. */
  readonly route: string
  readonly query: string
  /** 'app:<slug>' with its token as an app, 'installation:<slug>', 'user:<login>' or 'anonymous'. */
  readonly as: string
  readonly status: number
  readonly body: unknown
  readonly ms: number
  /** How it went wrong when trouble was on. */
  readonly trouble: TroubleKind | undefined
}

interface Violation {
  readonly method: string
  readonly path: string
  readonly problems: readonly string[]
}

/** What a server has seen. */
export interface Records {
  readonly requests: LoggedRequest[]
  /** Requests that GitHub's own description does not allow. */
  readonly violations: Violation[]
  /** Answers of ours that GitHub's own description does not allow; only filled when `checkResponses` is on. */
  readonly responseViolations: Violation[]
  /** Requests for what this server does not have. */
  readonly unknown: { readonly method: string; readonly path: string; readonly documented: boolean }[]
  trouble: Trouble | undefined
  readonly failures: {
    left: number
    readonly status: number
    readonly headers: Record<string, string>
    readonly when: FailWhen
  }[]
  /** Requests that are answered later. */
  readonly held: Set<{ readonly when: FailWhen; readonly until: Promise<void> }>
}

export type FailWhen = (request: { readonly method: string; readonly path: string }) => boolean

interface ServeOptions {
  readonly world: World
  readonly routes: readonly Route[]
  readonly records: Records
  readonly checkResponses: boolean
  readonly rateLimit: number
}

interface Parsed {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly found: { readonly value: Route; readonly params: Record<string, string> } | undefined
}

/** The listener of the API: authenticates, checks, permits, handles, records. */
export function serve(options: ServeOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const matchers = options.routes.map(route => compile(route.method, route.path, route))
  const rate = new RateLimit(options.rateLimit)

  async function reply(request: IncomingMessage, seen: Seen): Promise<Reply> {
    const raw = await readBody(request)
    const url = new URL(request.url ?? '/', 'http://server')
    const method = request.method ?? 'GET'
    const path = byName(options.world, url.pathname)
    const found = match(matchers, method, path)
    seen.parsed = { method, path, query: url.searchParams, body: undefined, found }
    const { trouble } = options.records
    const fate = trouble?.next(method)
    if (fate && fate.latencyMs > 0) await sleep(fate.latencyMs)
    seen.trouble = fate?.kind
    if (trouble && fate?.kind && fate.kind !== 'written-502') return troubledReply(fate.kind, trouble.retryAfter)
    const { parsed } = seen
    await Promise.all([...options.records.held].filter(({ when }) => when(parsed)).map(({ until }) => until))
    injectFailure(options.records, parsed)
    if (!request.headers['user-agent']) throw new HttpError(403, 'Request forbidden by administrative rules.')
    if (found?.value.scope !== 'web') seen.actor = authenticate(options.world, request.headers.authorization)
    seen.parsed = { ...seen.parsed, body: parseBody(raw, formOf(found?.value, request)) }
    rate.count(seen.actor)
    const made = await answer(options, request, seen.parsed, seen.actor)
    return trouble && fate?.kind ? troubledReply(fate.kind, trouble.retryAfter) : made
  }

  return async (request, response) => {
    const started = performance.now()
    const seen: Seen = { actor: { kind: 'anonymous' }, parsed: undefined, trouble: undefined }
    let made: Reply
    try {
      made = await reply(request, seen)
    } catch (error) {
      if (!request.complete && !(error instanceof HttpError)) return // who asked is gone: nobody to answer
      made = error instanceof Moved ? redirect(options.world, request, error.repository) : failed(error)
    }
    const { actor, parsed, trouble } = seen
    if (isUnchanged(request, made)) rate.giveBack(actor)
    writeReply(request, response, made, rate.standing(actor))
    options.records.requests.push({
      ...{ method: parsed?.method ?? '?', path: parsed?.path ?? '?', route: parsed?.found?.value.path ?? '?' },
      ...{ query: parsed?.query.toString() ?? '', as: nameOf(actor), status: response.statusCode },
      ...{ body: parsed?.body, ms: performance.now() - started, trouble },
    })
  }
}

/** `/repositories/{id}/...` is the same as `/repos/{owner}/{repo}/...`; to it lead the old addresses. */
function byName(world: World, path: string): string {
  const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
  const repository = id && [...world.repositories.values()].find(each => String(each.id) === id)
  return repository ? `/repos/${fullName(repository)}${rest}` : path
}

/** 301 for reads, 307 for writes: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects */
function redirect(world: World, request: IncomingMessage, repository: Repository): Reply {
  const rest = (request.url ?? '/').replace(/^\/repos\/[^/]+\/[^/?]+/, '')
  const location = `${world.url}/repositories/${repository.id}${rest}`
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const message = isRead ? 'Moved Permanently' : 'Temporary Redirect'
  const body = { message, url: location, documentation_url: 'https://docs.github.com/rest' }
  return { status: isRead ? 301 : 307, body, headers: { location } }
}

/** What is known of a request so far. */
interface Seen {
  actor: Actor
  parsed: Parsed | undefined
  trouble: TroubleKind | undefined
}

async function answer(options: ServeOptions, request: IncomingMessage, parsed: Parsed, actor: Actor): Promise<Reply> {
  if (!parsed.found) throw unknownRoute(options.records, parsed)
  const { value: route, params } = parsed.found
  const problems = check(route, { ...parsed, params }, actor)
  if (problems.length > 0) {
    options.records.violations.push({ method: parsed.method, path: parsed.path, problems })
    throw new HttpError(422, `Invalid request.\n\n${problems.join('\n')}`)
  }
  const ignored = route.scope === 'web' ? undefined : unheeded(parsed.method, route.path, parsed.query)
  if (ignored !== undefined) {
    options.records.unknown.push({ method: parsed.method, path: `${parsed.path}?${ignored}`, documented: true })
    throw new HttpError(501, `This server does not heed ${ignored}`)
  }
  const body = (parsed.body ?? {}) as Record<string, unknown>
  const accept = request.headers.accept ?? ''
  const { world } = options
  const { authorization, 'x-login': login } = request.headers
  const call: Call = {
    ...{ world, actor, params, query: parsed.query, body, accept, path: parsed.path, authorization },
    login: typeof login === 'string' ? login : undefined,
  }
  const reply = await handle(route, call)
  if (options.checkResponses) checkResponse(options.records, route, parsed, reply)
  return reply
}

async function handle(route: Route, call: Call): Promise<Reply> {
  if (route.scope === 'organization') {
    const organization = permittedOrganization(call.world, call.actor, call.params.org ?? '', route.permission)
    return await route.handle({ ...call, organization })
  }
  if (route.scope !== 'repository') {
    permitGlobal(call.actor, route)
    return await route.handle(call)
  }
  const { owner = '', repo: name = '' } = call.params
  const repo = visibleRepository(call.world, call.actor, owner, name)
  permit(call.world, call.actor, repo, route.access)
  return await route.handle({ ...call, repo })
}

/** The API reads JSON whatever is said of it; only the pages take forms. */
function formOf(route: Route | undefined, request: IncomingMessage): string {
  return route?.scope === 'web' ? (request.headers['content-type'] ?? '') : ''
}

/** Routes below /_ are no part of GitHub's API (the place where tarballs lie). */
function check(route: Route, request: Parsed & { params: Record<string, string> }, actor: Actor): string[] {
  if (route.path.startsWith('/_')) return []
  const operation = description().operation(route.method, route.path)
  if (!operation && route.scope === 'web') return []
  if (!operation) return [`${route.method} ${route.path} is not described`]
  if (actor.kind === 'installation' && !operation.enabledForApps) return [`${operation.operationId} is not for apps`]
  return checkRequest(operation, request)
}

function checkResponse(records: Records, route: Route, { method, path }: Parsed, reply: Reply): void {
  const operation = route.path.startsWith('/_') ? undefined : description().operation(route.method, route.path)
  const schema = operation && description().responseSchema(operation, reply.status)
  if (!operation || !schema || reply.body instanceof Uint8Array || typeof reply.body === 'string') return
  const body: unknown = JSON.parse(JSON.stringify(reply.body))
  const problems = description().check(`${route.method} ${route.path} ${reply.status}`, schema, body)
  if (problems.length > 0) records.responseViolations.push({ method, path, problems })
}

function unknownRoute(records: Records, { method, path }: Parsed): HttpError {
  const documented = description().find(method, path) !== undefined
  records.unknown.push({ method, path, documented })
  if (!documented) records.violations.push({ method, path, problems: ['no such operation is described'] })
  return notFound()
}

function injectFailure(records: Records, request: Parsed): void {
  const failure = records.failures.find(each => each.left > 0 && each.when(request))
  if (!failure) return
  failure.left--
  throw new HttpError(
    failure.status,
    failure.status >= 500 ? 'Server Error' : 'Injected failure',
    undefined,
    failure.headers,
  )
}

function nameOf(actor: Actor): string {
  if (actor.kind === 'user') return `user:${actor.user.login}`
  return actor.kind === 'anonymous' ? actor.kind : `${actor.kind}:${actor.app.slug}`
}

function failed(error: unknown): Reply {
  if (error instanceof HttpError) return { status: error.status, body: error.body(), headers: error.headers }
  if (error instanceof URIError) return { status: 400, body: { message: 'Bad Request' } }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`tools/github: ${message}\n`)
  return { status: 500, body: { message: 'Server Error' } }
}
