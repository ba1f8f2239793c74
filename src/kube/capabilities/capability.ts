import type { Node, Path } from '../node.ts'

/** Whether objects of a kind live in namespaces. */
export type Scope = 'Namespaced' | 'Cluster'

/**
 * What a value names:
 * - `namespace`: a namespace, a list of them, or a selection (`any`, `matchNames`, labels, patterns);
 * - `service`: a Service or a route that traffic is sent to or taken from;
 * - `secret`, `configMap`, `identity` (a service account), `volume` (a claim or snapshot), `object` (anything else);
 * - `clusterObject`: an object that belongs to the whole cluster and that has to be assigned;
 * - `host`: a host whose traffic is asked for; `url`: an address that a controller or a proxy connects to;
 * - `image`, `hostPath`, `file` (a path in the controller's own container); `code` is run by a shared proxy;
 *   `privilege`: present means more than a tenant should have;
 * - `ambient`: present means that the controller signs in with its own account.
 */
export type Named =
  | 'namespace'
  | 'service'
  | 'secret'
  | 'configMap'
  | 'identity'
  | 'volume'
  | 'object'
  | 'clusterObject'
  | 'host'
  | 'url'
  | 'image'
  | 'hostPath'
  | 'file'
  | 'code'
  | 'privilege'
  | 'ambient'

/**
 * How it is written:
 * - `name` (default): the name alone, in the namespace of the object; of a namespace its name;
 * - `parameter`: the `value` of a parameter; `sibling`: the namespace, beside a `name`; `reference`: a map with `name` and `namespace`;
 * - `path`: `<namespace>/<name>`, several with commas between; `hyphen`: `<namespace>-<name>@<provider>` of Traefik;
 * - `host`: `<service>.<namespace>.svc...`; `url`: an address with such a host; `apiPath`: a path of the API server;
 * - `selection`: a map that selects namespaces by `any` or `matchNames`; `labels`: a label selector over namespaces;
 * - `patterns`: names or patterns of namespaces with commas between; `switch`: `true` means every namespace;
 * - `everywhere`: whatever is written, it reaches every namespace; `keys`: keys of a map, `<namespace>.<name>`;
 * - `match`: a rule of Traefik.
 */
type Form =
  | 'name'
  | 'sibling'
  | 'reference'
  | 'parameter'
  | 'path'
  | 'hyphen'
  | 'host'
  | 'url'
  | 'apiPath'
  | 'selection'
  | 'labels'
  | 'patterns'
  | 'switch'
  | 'everywhere'
  | 'keys'
  | 'match'

/** A field that names something beyond its object. */
export interface NamingField {
  /** Steps from the root with dots between: `*` is each item of a list or map, `**` any number of steps. */
  readonly at: string
  readonly names: Named
  readonly form?: Form
  /** Of a Secret or ConfigMap. Default: read. */
  readonly access?: 'read' | 'write'
  /** The platform offers such objects to its tenants: only those of another tenant are foreign. */
  readonly shared?: true
  /** Of a `switch`: the key beside it with the patterns that limit it. */
  readonly limitedBy?: string
  /** Counts only where these steps below it have these values. */
  readonly where?: Readonly<Record<string, string>>
  /** Of `ambient`: places below it, one of which has to be there. */
  readonly unless?: readonly string[]
  /** Counts where nothing is written, too: a selector that is empty selects everything. */
  readonly orEmpty?: true
  /** A warning where a violation would be too much. */
  readonly level?: 'warning'
  /** `<group>/<resource>` that the account must be able to create in the other namespace; then it may name it. */
  readonly grantedBy?: string
  /** What a finding says about it, after the name of the object. */
  readonly says?: string
}

/** What objects of a kind can do beyond being there. A kind without fields names nothing outside of itself. */
export interface Capability {
  /** Of its CustomResourceDefinition. */
  readonly scope: Scope
  /** Where it is not the English plural of the kind. */
  readonly plural?: string
  readonly fields: readonly NamingField[]
}

/** Kinds by `<group>/<Kind>`. */
export type Capabilities = Readonly<Record<string, Capability>>

/** Kinds in namespaces, as `<group>/<Kind>` with spaces between, that name nothing outside of their own. */
export function withoutFields(kinds: string): Capabilities {
  return Object.fromEntries(kinds.split(' ').map(kind => [kind, { scope: 'Namespaced', fields: [] }]))
}

/** Names of annotations have dots themselves, which are written as `\.`. */
const DOT = /(?<!\\)\./
const STEPS = new Map<string, readonly string[]>()

/**
 * The paths of everything that is there at a place of the table (see NamingField.at), each once. The work is linear in the
 * object: `**` may stand once in a place.
 */
export function placesOf(root: Node, place: string): Path[] {
  const found: Path[] = []
  visit(root, [], stepsOf(place), found)
  return found
}

/** The steps of a place. */
export function stepsOf(place: string): readonly string[] {
  const known = STEPS.get(place)
  if (known) return known
  const steps = place.split(DOT).map(step => step.replaceAll('\\.', '.'))
  STEPS.set(place, steps)
  return steps
}

function visit(node: Node, path: Path, steps: readonly string[], found: Path[]): void {
  const [step, ...rest] = steps
  if (step === undefined) {
    found.push(path)
    return
  }
  if (step === '**') visit(node, path, rest, found)
  for (const [key, child] of childrenOf(node)) {
    if (step === '**') visit(child, [...path, key], steps, found)
    else if (step === '*' || (step === key && typeof key === 'string')) visit(child, [...path, key], rest, found)
  }
}

function* childrenOf(node: Node): Iterable<[string | number, Node]> {
  if (node.type === 'list') yield* node.items.entries()
  else if (node.type === 'map') for (const [key, { value }] of node.fields) yield [key, value]
}
