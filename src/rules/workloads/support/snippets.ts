import type { Subject } from '../../../facts/subject.ts'
import { fieldsNaming, kindsNaming } from '../../../kube/capabilities/index.ts'
import { namedBy } from '../../../kube/capabilities/read-named.ts'
import { at, type Node, type Path } from '../../../kube/node.ts'
import { everyMap } from '../../model/every-map.ts'
import { isUnset, textOf } from './scalars.ts'

const VIRTUAL_SERVERS = [
  'k8s.nginx.org/VirtualServer',
  'k8s.nginx.org/VirtualServerRoute',
  'k8s.nginx.org/TransportServer',
]

/** Kinds in which somebody can write configuration of a proxy. A Service's annotations reach some proxies, too. */
export const snippetKinds: readonly string[] = [
  'networking.k8s.io/Ingress',
  'extensions/Ingress',
  '/Service',
  ...VIRTUAL_SERVERS,
  ...kindsNaming('code'),
]

export interface Snippet {
  readonly path: Path
  /** The name of the field; its text may be anything. */
  readonly value: string
  readonly what: string
  readonly level?: 'warning'
}

/** Annotations that are configuration of the proxy under another name. */
const RAW =
  /^(?:haproxy-ingress\.github\.io|ingress\.kubernetes\.io)\/config-(?:backend|defaults|frontend|global|proxy|sections|tcp|tcp-service)$/
/** Annotations of ingress-nginx that were written into its configuration without being checked. */
const UNCHECKED = new Set(
  'auth-url auth-signin auth-tls-match-cn mirror-target mirror-host permanent-redirect rewrite-target from-to-www-redirect upstream-vhost'
    .split(' ')
    .map(name => `nginx.ingress.kubernetes.io/${name}`),
)

/** Every place where an object writes configuration of a proxy itself. */
export function* snippets({ object: { root }, kind }: Subject): Iterable<Snippet> {
  for (const field of fieldsNaming(kind, 'code')) {
    for (const { path } of namedBy(root, { ...field, form: 'everywhere' })) {
      const level = field.level ? { level: field.level } : {}
      yield { path, value: String(path.at(-1)), what: `it ${field.says ?? 'runs in the proxy'}`, ...level }
    }
  }
  const annotations = ['metadata', 'annotations']
  yield* ofMap(at(root, annotations), annotations, true)
  const spec = at(root, ['spec'])
  if (!spec) return
  for (const { path, node } of everyMap(spec)) yield* ofMap(node, ['spec', ...path], false)
}

function* ofMap(map: Node | undefined, base: Path, annotations: boolean): Iterable<Snippet> {
  if (map?.type !== 'map') return
  for (const [key, { value }] of map.fields) {
    const path = [...base, key]
    if (isUnset(value)) continue
    if (isSnippet(key, annotations)) yield { path, value: key, what: 'a snippet runs with the rights of the proxy' }
    else if (annotations && UNCHECKED.has(key) && /[\r\n{};]/.test(textOf(value) ?? '')) {
      yield { path, value: key, what: 'its value ends the directive and begins another' }
    }
  }
}

/** `configuration-snippet`, `server-snippets`, `stream-snippet`, ... of any proxy; in a spec only with that ending. */
function isSnippet(key: string, annotation: boolean): boolean {
  const name = key.slice(key.lastIndexOf('/') + 1).toLowerCase()
  if (annotation && (!key.includes('/') || RAW.test(key))) return RAW.test(key)
  return /(?:^|-)snippets?$/.test(name) && (annotation || name !== 'snippet')
}
