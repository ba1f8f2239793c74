import { message, untyped } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { GIT_REPOSITORY, sourceNamed, valuesOf } from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'

const VERIFIED = valuesOf(row => row.verify)

/** Required signatures stay required. */
export const sourceVerifyRemoved: Rule = {
  id: 'source-verify-removed',
  severity: 'high',
  title: 'Removed signature verification',
  why: 'With `spec.verify`, Flux deploys only content that is signed with a trusted key. Without it, or with another key, everyone who can write to the source can deploy.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Verification"; Flux security best practices',
  docs: 'Keep `spec.verify` and the Secret that it names. To remove it, waive the rule or merge with an override. The rule compares with the base. A removal by the platform for its own source is a warning.',
  kinds: [...VERIFIED.keys()],
  checkObject: unverifiedSource,
  checkNode: unverifiedNode,
}

/** What is checked, as far as it is set. */
function verifyOf(object: KubeObject | undefined, kind: string): Node | undefined {
  const found = object && at(object.root, VERIFIED.get(kind)!)
  return found?.type === 'map' && found.fields.size > 0 ? found : undefined
}

function* unverifiedSource(subject: Subject, { index, before }: RuleContext): Iterable<Violation> {
  const { object, id, kind, node } = subject
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  const was = versions.map(one => verifyOf(one.object, kind)).find(one => one !== undefined)
  if (!was) return
  const is = verifyOf(object, kind)
  const weaker = is ? weakened(was, is) : 'is no longer verified'
  const concerns = index.actsFor(node, object) !== undefined
  // its owner may change it: the platform rotates the keys that it renders itself
  if (!weaker || (is && node.tenant === undefined && (!concerns || isPlatformsKey(subject, index, is)))) return
  yield subject.violation(VERIFIED.get(kind)!, is ? canonical(is) : 'removed', {
    message: message`${subject.who} ${untyped(weaker)}: Flux would deploy content without that signature. Allowed: spec.verify as it was.`,
    fix: message`Restore spec.verify.`,
    ...(concerns ? {} : { level: 'warning' }),
  })
}

function isPlatformsKey({ id, node }: Subject, index: FleetIndex, verify: Node): boolean {
  const name = stringAt(verify, ['secretRef', 'name'])
  return name !== undefined && index.platformObject(node.cluster, '/Secret', id.namespace, name) !== undefined
}

/** How a check accepts more than before; undefined: it does not. */
function weakened(was: Node, is: Node): string | undefined {
  for (const path of [['provider'], ['secretRef', 'name'], ['trustedRootSecretRef', 'name']]) {
    const [before, after] = [stringAt(was, path), stringAt(is, path)]
    if (before !== undefined && before !== after) return `is verified with another ${path[0]}`
  }
  const [from, to] = [stringAt(was, ['mode']), stringAt(is, ['mode'])]
  const both = (mode: string | undefined) => mode?.toLowerCase() === 'tagandhead'
  if (from?.toLowerCase() !== to?.toLowerCase() && !both(to)) return 'is verified in another mode'
  const [known, now] = [at(was, ['matchOIDCIdentity']), at(is, ['matchOIDCIdentity'])]
  const identities = known?.type === 'list' ? known.items.map(canonical) : []
  const added = now?.type === 'list' ? now.items.map(canonical).filter(one => !identities.includes(one)) : []
  if (identities.length > 0 && now?.type !== 'list') return 'is verified for any identity'
  return identities.length > 0 && added.length > 0 ? 'is verified for other identities' : undefined
}

/** A Kustomization of a tenant that leaves a verified source for one that is not. */
function* unverifiedNode(node: FleetNode, { index, before }: RuleContext): Iterable<Violation> {
  const was = before?.node(node.key)?.source
  if (node.tenant === undefined || !before || !was || was.id === node.source.id) return
  const lost = sourcesOf(before, node.cluster, was.id).some(one => verifyOf(one, kindOfId(was.id)))
  const now = sourcesOf(index, node.cluster, node.source.id)
  if (!lost || now.length === 0 || now.some(one => verifyOf(one, kindOfId(node.source.id)))) return
  yield Subject.ofNode(node, index.node(node.parent)).violation(['spec', 'sourceRef'], node.source.id, {
    message: message`${objectPart('Kustomization', node.namespace, node.name)} followed ${quoted('object', was.id)}, which is verified, but now follows ${whoOf(now[0]!)}, which is not. Allowed: sources with the same verification. Flux accepts it.`,
    fix: message`Set spec.verify of ${whoOf(now[0]!)}.`,
  })
}

const kindOfId = (id: string) => {
  const kind = sourceNamed(id.split('/')[0] ?? '')
  return VERIFIED.has(kind) ? kind : GIT_REPOSITORY
}

function sourcesOf(index: FleetIndex, cluster: string, id: string): KubeObject[] {
  const [kind, namespace = '', name = ''] = id.split('/')
  return index.versionsOf(cluster, sourceNamed(kind), namespace, name).map(one => one.object)
}
