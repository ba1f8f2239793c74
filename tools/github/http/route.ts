import type { Actor, Repository, Role, User, World } from '../world.ts'

/** A request that was authenticated, checked against the description and permitted. */
export interface Call {
  readonly world: World
  readonly actor: Actor
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly accept: string
  readonly path: string
  /** The header as it came, for the few routes that know people by it themselves. */
  readonly authorization: string | undefined
  /** The header `x-login`, by which a test says whose browser it is. */
  readonly login: string | undefined
}

export interface RepositoryCall extends Call {
  readonly repo: Repository
}

export interface OrganizationCall extends Call {
  readonly organization: User
}

export interface Reply {
  readonly status: number
  /** JSON unless it is bytes or text. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What a caller must be allowed: one of `permissions` ('contents:read') for an app, `role` for a person. */
export interface Access {
  readonly permissions: readonly string[]
  readonly role: Role | 'apps-only'
  /** Whether an archived repository takes it too. */
  readonly whileArchived?: boolean
}

export type RepositoryRoute = {
  readonly scope: 'repository'
  readonly method: string
  /** As in GitHub's OpenAPI description. */
  readonly path: string
  readonly access: Access
  readonly handle: (call: RepositoryCall) => Reply | Promise<Reply>
}

export type GlobalRoute = {
  /** 'web' is github.com as a browser sees it, where no token counts. */
  readonly scope: 'app' | 'installation' | 'anyone' | 'web'
  readonly method: string
  readonly path: string
  readonly handle: (call: Call) => Reply | Promise<Reply>
}

/** A route below /orgs/{org}: for its members, and for apps installed on it with the permission. */
type OrganizationRoute = {
  readonly scope: 'organization'
  readonly method: string
  readonly path: string
  readonly permission: string
  readonly handle: (call: OrganizationCall) => Reply | Promise<Reply>
}

export type Route = RepositoryRoute | OrganizationRoute | GlobalRoute

export function onOrganization(
  method: string,
  path: string,
  permission: string,
  handle: OrganizationRoute['handle'],
): OrganizationRoute {
  return { scope: 'organization', method, path: `/orgs/{org}${path}`, permission, handle }
}

/** A route below /repos/{owner}/{repo}; `permissions` is 'contents:read' or several of which one suffices ('a:read|b:read'). */
export function onRepository(
  method: string,
  path: string,
  permissions: string,
  role: Access['role'],
  handle: RepositoryRoute['handle'],
): RepositoryRoute {
  const access = { permissions: permissions.split('|'), role }
  return { scope: 'repository', method, path: `/repos/{owner}/{repo}${path}`, access, handle }
}

export function onWeb(method: string, path: string, handle: GlobalRoute['handle']): GlobalRoute {
  return { scope: 'web', method, path, handle }
}

export const ok = (body: unknown): Reply => ({ status: 200, body })
export const created = (body: unknown): Reply => ({ status: 201, body })
export const noContent = (): Reply => ({ status: 204 })

/** Bytes as they are. GitHub calls them UTF-8 whatever they are, so that Octokit makes text of them: a trap for binary. */
export const rawReply = (body: Uint8Array): Reply => ({
  ...{ status: 200, body },
  headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' },
})
