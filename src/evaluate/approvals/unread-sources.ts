import { HeldNodes } from '../../facts/held-nodes.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { oncePer } from '../../facts/once-per.ts'
import { shown, shownObject } from '../../facts/shown.ts'
import { isNextVersion } from '../../facts/source-ref.ts'
import type { Fleet, FleetNode, IncludedSource } from '../../fleet/model/fleet.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { canonicalRef, refKey } from '../../fleet/model/ref.ts'
import { ARTIFACT_GENERATOR, kindsThat } from '../../flux/kinds.ts'
import { fieldTexts } from '../../kube/field-texts.ts'
import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { isUnread, sourceNewVersion } from '../../rules/sources/source-new-version.ts'
import { placeOf } from '../applied/place-of.ts'
import { followedText, isSame } from './followed-text.ts'
import { onePerGroup } from './one-per-group.ts'

/**
 * What the platform newly applies of content that is not visible: another source, revision or path, in another place, with
 * other rights or in another form. And what it newly follows by a revision that moves without a change that is evaluated.
 * A rule names what is only a later version of the same.
 */
export function unreadSources(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.nodes.map(node => [node.key, node]))
  const [specs, old] = [specsOf(head), specsOf(base)]
  const [isHeld, wasHeld] = [new HeldNodes(head), new HeldNodes(base)]
  const keysOf = (node: FleetNode, keyIn = keyOf) =>
    placeOf(node, wasHeld.has(node.key)).known.map(place => keyIn(node, old, place))
  const known = new Set(base.nodes.filter(isUnread).flatMap(node => keysOf(node)))
  const isNextOf = (was: FleetNode | undefined, node: FleetNode, place: string) =>
    was !== undefined &&
    isUnread(was) &&
    was.source.id === node.source.id &&
    isNextVersion(specOf(node, specs).tag, specOf(was, old).tag) &&
    isVersionNamed(head.config) &&
    keysOf(was, keyOfAnyVersion).includes(keyOfAnyVersion(node, specs, place))
  const unread = head.nodes.flatMap(node => {
    const was = before.get(node.key)
    // of a cluster that is asked for already
    if (node.parent === undefined && was && !(isSame(was, node) && isUnread(was) === isUnread(node))) return []
    const place = isUnread(node) ? placeOf(node, isHeld.has(node.key)).now : undefined
    const wakes = wasHeld.has(node.key) && !isHeld.has(node.key)
    const what = isUnread(node)
      ? isReportedAsError(node, was) ||
        place === undefined ||
        known.has(keyOf(node, specs, place)) ||
        isNextOf(was, node, place)
        ? undefined
        : `is not visible, so nothing of it is evaluated: ${node.source.opaque}`
      : movingIn(node).some(url => !was || wakes || !movingIn(was).includes(url))
        ? 'can be changed by everyone who can push to it, without an evaluation'
        : undefined
    return what === undefined ? [] : [{ node, what }]
  })
  return grouped(unread)
}

/** A rule that is off names nothing, and a setting asks as for charts. */
const isVersionNamed = ({ severities, unrenderedCharts }: FleetConfig) =>
  severities.get(sourceNewVersion.id) !== 'off' && unrenderedCharts !== 'approve'

/** The repositories that it follows by a tag, a range of tags or another ref that is no branch, where that is visible. */
function movingIn({ tenant, source }: FleetNode): string[] {
  if (tenant !== undefined || source.opaque !== undefined) return []
  const moves = ({ ref }: Pick<IncludedSource, 'ref'>) => (ref.tag ?? ref.semver ?? ref.name) !== undefined
  return [source, ...(source.includes ?? [])].filter(moves).map(({ url }) => url)
}

/** What a change makes undeclared, or another address, is an evaluation error. */
function isReportedAsError({ source }: FleetNode, was: FleetNode | undefined): boolean {
  if (source.unmatched === undefined) return false
  const { why } = source.unmatched
  return !(was?.source.unmatched?.why === why && was.source.id === source.id && was.source.url === source.url)
}

interface UnreadSource {
  readonly node: FleetNode
  readonly what: string
}

/** Each source once, however many Kustomizations follow it. */
function grouped(unread: readonly UnreadSource[]): RequiredApproval[] {
  return onePerGroup(
    unread,
    ({ node, what }) => `${followedText(node)} ${what}`,
    ({ node, what }, others) => {
      const message = `${shownObject('Kustomization', node.namespace, node.name)}${others} would follow ${shown(followedText(node))}, which ${what}`
      const rule = isUnread(node) ? 'source-opaque' : 'source-mutable-ref'
      return { rule, path: node.kustomization.root.origin.file, message }
    },
  )
}

/** What is the same for two nodes that apply the same unseen content in the same way, whatever they are called. */
function keyOf(node: FleetNode, specs: Specs, place: string): string {
  return JSON.stringify([keyOfAnyVersion(node, specs, place), refKey(node.source.ref), specOf(node, specs).tag])
}

/** The same, whichever tag it follows. */
function keyOfAnyVersion(node: FleetNode, specs: Specs, place: string): string {
  const { source, path } = node
  const ref = JSON.stringify(canonicalRef(source.ref), (name, value) => (name === 'tag' ? '' : value))
  const included = (source.includes ?? []).map(({ url, ref }) => [url, refKey(ref)])
  // without an address, as that of an ExternalArtifact, its own name stands for what it is
  return JSON.stringify([source.url || source.id, ref, included, specOf(node, specs).rest, path, place])
}

const specOf = ({ hub, cluster, source }: FleetNode, specs: Specs) =>
  specs.get(`${hub ?? cluster} ${source.id}`) ?? NO_SPEC

/** What source objects say about content, by `<cluster> <Kind>/<namespace>/<name>`. */
type Specs = ReadonlyMap<string, Spec>

/** The tag that a source follows, and all else that decides about its content. */
interface Spec {
  readonly tag: string
  readonly rest: string
}

const NO_SPEC: Spec = { tag: '', rest: '' }

function specsOf({ nodes }: Fleet): Specs {
  const wanted = new Set(nodes.filter(isUnread).map(({ hub, cluster, source }) => `${hub ?? cluster} ${source.id}`))
  if (wanted.size === 0) return new Map()
  return new Map(
    nodes.flatMap(node =>
      sourcesOf(node).flatMap(([id, spec]) =>
        wanted.has(`${node.cluster} ${id}`) ? [[`${node.cluster} ${id}`, spec]] : [],
      ),
    ) as [string, Spec][],
  )
}

/** Fields of a source that decide when it is fetched, and not what. */
const TIMING = new Set(['interval', 'timeout'])
const SOURCES: ReadonlySet<string> = new Set(kindsThat(({ source, makesSources }) => source ?? makesSources))

const sourcesOf = oncePer((node: FleetNode): readonly (readonly [id: string, spec: Spec])[] =>
  [...node.objects, ...(node.retained ?? [])].flatMap(object => {
    if (!SOURCES.has(kindOf(object))) return []
    const { kind, namespace, name } = idOf(object)
    const spec = readSpec(object)
    return [[`${kind}/${namespace}/${name}`, spec] as const, ...madeBy(object).map(id => [id, spec] as const)]
  }),
)

/** The artifacts that a generator makes, which nobody renders. */
function madeBy(object: KubeObject): string[] {
  const list = at(object.root, ['spec', 'artifacts'])
  if (kindOf(object) !== ARTIFACT_GENERATOR || list?.type !== 'list') return []
  const { namespace } = idOf(object)
  return list.items.map(item => `ExternalArtifact/${namespace}/${stringAt(item, ['name']) ?? ''}`)
}

function readSpec({ root }: KubeObject): Spec {
  const [spec, ref] = [at(root, ['spec']), at(root, ['spec', 'ref'])]
  const tag = stringAt(root, ['spec', 'ref', 'tag'])
  const others = fieldTexts(spec, name => !TIMING.has(name) && (name !== 'ref' || ref?.type !== 'map'))
  const rest = JSON.stringify([others, fieldTexts(ref, name => name !== 'tag' || tag === undefined)])
  return { tag: tag ?? '', rest }
}
