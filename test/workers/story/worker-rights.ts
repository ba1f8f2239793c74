import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from './in-cluster-world.ts'

/** One request of the worker's account, as the authorizer sees it; `namespace` is '' for the whole cluster. */
export interface Request {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/** One verb on one resource, in one namespace ('*': all) and of one name (undefined: each). */
export interface Right extends Omit<Request, 'name'> {
  readonly name: string | undefined
  /** Of the role that a cluster with `drift: poll` goes without: what others give as well may stand in it. */
  readonly isDrift: boolean
}

/** `verb resource name in namespace`. */
export const nameOf = ({ verb, group, resource, name, namespace }: Right) =>
  [
    `${verb} ${resource}${group === '' ? '' : `.${group}`}`,
    ...(name === undefined ? [] : [name]),
    ...(namespace === '*' ? [] : [`in ${namespace}`]),
  ].join(' ')

/** The single rights of Roles and ClusterRoles, each once. */
export function rightsOf(manifests: readonly Manifest[]): Right[] {
  const rights = manifests.flatMap(({ kind, metadata, rules = [] }) =>
    rules.flatMap(rule => {
      const texts = (field: string) => rule[field] as string[] | undefined
      const isDrift = metadata.name === 'bailiwick-drift'
      const namespace = kind === 'ClusterRole' ? '*' : metadata.namespace!
      return texts('apiGroups')!.flatMap(group =>
        texts('resources')!.flatMap(resource =>
          texts('verbs')!.flatMap(verb =>
            (texts('resourceNames') ?? [undefined]).map(name => ({ verb, group, resource, namespace, name, isDrift })),
          ),
        ),
      )
    }),
  )
  // what stands twice counts where it is always given
  const first = rights.toSorted((a, b) => Number(b.isDrift) - Number(a.isDrift))
  return [...new Map(first.map(right => [nameOf(right), right])).values()]
}

/** Whether the right allows the request. */
export const covers = (right: Right, request: Request): boolean =>
  right.verb === request.verb &&
  right.group === request.group &&
  right.resource === request.resource &&
  (right.namespace === '*' || right.namespace === request.namespace) &&
  (right.name === undefined || right.name === request.name)

export interface AuditEvent {
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string }
  readonly impersonatedUser?: { readonly username: string }
  readonly objectRef?: Partial<Record<'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name', string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly responseStatus?: { readonly code?: number }
}

/** What the account needed a right for, by the API server's own record. */
export function requestOf({ verb, impersonatedUser, objectRef = {} }: AuditEvent): Request[] {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(impersonatedUser?.username ?? '') ?? []
  if (namespace && name) return [{ verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace, name }]
  const { apiGroup: group = '', resource, subresource, namespace: within = '', name: named = '' } = objectRef
  if (resource === undefined) return []
  const path = subresource === undefined ? resource : `${resource}/${subresource}`
  return [{ verb, group, resource: path, namespace: within, name: named }]
}

/** The finished requests of an account in an audit log. */
export function auditEvents(log: string, username: string): AuditEvent[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith('}'))
    .map(line => JSON.parse(line) as AuditEvent)
    .filter(({ user, stage }) => user.username === username && stage !== 'RequestReceived')
}

/** What was refused to the account itself; not to those that it impersonates. */
export const deniedIn = (events: readonly AuditEvent[]): Request[] =>
  events
    .filter(({ annotations = {} }) => annotations['authorization.k8s.io/decision'] === 'forbid')
    .filter(({ impersonatedUser }) => impersonatedUser === undefined)
    .flatMap(requestOf)

/** Flags of kube-apiserver for an audit log of every request in this folder, and the file. */
export function auditFlags(directory: string): { readonly flags: readonly string[]; readonly log: string } {
  const [policy, log] = [join(directory, 'policy.yaml'), join(directory, 'audit.log')]
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
  writeFileSync(log, '')
  return { flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`], log }
}
