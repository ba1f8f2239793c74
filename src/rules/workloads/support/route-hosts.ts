import type { NamingField } from '../../../kube/capabilities/capability.ts'
import { annotationNaming, fieldsNaming, kindsNaming } from '../../../kube/capabilities/index.ts'
import { namedBy } from '../../../kube/capabilities/read-named.ts'
import { at, type Node, type Path } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { textOf } from './scalars.ts'

/** A host name that an object asks traffic for. */
export interface RouteHost {
  readonly path: Path
  /** Lower case; `*.` in front of a wildcard, `*` for every host. */
  readonly host: string
  /** It gets what nobody else asks for by a name. */
  readonly catchesAll?: true
}

/** The kinds whose hosts are read; annotations of Services add some. */
export const routeKinds: readonly string[] = [...kindsNaming('host'), '/Service']

/** A Gateway of the platform offers its hosts to routes; other kinds take them. */
export const isGateway = (kind: string): boolean => kind.endsWith('/Gateway')

/** Where an object names hosts. */
export function hostPaths(kind: string, { root }: KubeObject): Path[] {
  return [...fieldsNaming(kind, 'host'), ...annotated(root)].flatMap(field =>
    namedBy(root, field).map(({ path }) => path),
  )
}

/** The hosts that an object asks for by name, each once. */
export function hostsOf(kind: string, object: KubeObject): RouteHost[] {
  const { root } = object
  const found = new Map<string, RouteHost>()
  for (const path of hostPaths(kind, object)) {
    const text = textOf(at(root, path)) ?? ''
    for (const name of path.at(-1) === 'match' ? matched(text) : text.split(/[\s,]+/)) {
      const host = normalised(name)
      if (host !== '' && !found.has(host)) found.set(host, { path, host })
    }
  }
  return [...found.values()]
}

function annotated(root: Node): NamingField[] {
  const map = at(root, ['metadata', 'annotations'])
  if (map?.type !== 'map') return []
  return [...map.fields.keys()].map(key => annotationNaming(key, 'host')).filter(field => field !== undefined)
}

/** Hosts of a rule of Traefik: Host(`a`, `b`), HostSNI(`c`), and by the older names of the same. */
export function matched(rule: string): string[] {
  // up to each closing bracket at most one call, so that brackets that never close cost nothing
  const calls = rule
    .split(')')
    .slice(0, -1)
    .flatMap(text => /\bHost(?:SNI|Header)?\(([\s\S]*)$/.exec(text)?.[1] ?? [])
  return calls.flatMap(names => names.split(',').map(name => name.replace(/[`'"\s]/g, '')))
}

/** Without the namespace that Istio writes in front, the trailing dot, or a port; '' for a name inside a namespace. */
function normalised(host: string): string {
  const name = host
    .slice(host.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
  if (!name.includes('.') && name !== '*') return ''
  // longer ones are no names in DNS
  return name.length <= 253 ? name : ''
}
