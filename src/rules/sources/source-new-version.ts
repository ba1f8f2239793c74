import { message, untyped } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import { isNextVersion } from '../../fleet/facts/sources.ts'
import { ASKED, type FleetNode, WANTED } from '../../fleet/model/fleet.ts'
import { sourceNamed } from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Rule, Subject } from '../model/rule.ts'

/** A new release of an approved platform source needs no second approval, but is always listed. */
export const sourceNewVersion: Rule = {
  id: 'source-new-version',
  severity: 'medium',
  level: 'warning',
  title: 'New version of a source that is not visible',
  why: 'Bailiwick does not evaluate content that is not visible. Only the rights of the applying account limit what the new version changes.',
  source: 'https://fluxcd.io/flux/components/source/ocirepositories/#reference',
  docs: 'Review what changed between the two versions. The rule reports a source of the platform that follows a later version by its tag (`v1.2.3` instead of `v1.2.2`). Approving the source approved its address, signature, path and account. Any other change of these needs an approval (`source-opaque`). So does an older version, a prerelease, a range, a branch, a commit or a digest. `unrenderedCharts: approve` in .github/bailiwick.yaml requires the approval of a fleet admin for every version. So does `off` for this rule, because then nothing names the version. The rule compares with the base.',
  *checkNode(node, { index, before }) {
    const was = before?.node(node.key)
    if (!before || !was || !isUnread(node) || !isUnread(was) || was.source.id !== node.source.id) return
    const { id, url, opaque } = node.source
    const tags = tagsOf(before, was)
    for (const { object, node: writer } of writtenFor(index, node)) {
      const tag = tagOf(object)
      const last = tags.find(one => isNextVersion(tag, one))
      if (last === undefined) continue
      yield new Subject({ node: writer, object }).violation(TAG, `${url || id} ${tag}`, {
        message: message`${objectPart('Kustomization', node.namespace, node.name)} would follow version ${quoted('value', tag)} of ${quoted('repository', url || id)}, not ${quoted('value', last)}. It is not visible (${untyped(opaque!)}), so the new version was not checked: only the rights of ${identityPart(node.identity)} limit it.`,
        fix: message`Review what changed between the two versions before the merge.`,
      })
    }
  },
}

const TAG = ['spec', 'ref', 'tag']
const tagOf = ({ root }: KubeObject) => stringAt(root, TAG) ?? ''
const tagsOf = (index: FleetIndex, node: FleetNode) => writtenFor(index, node).map(({ object }) => tagOf(object))

/** The source object that a node follows, in each of its forms. */
function writtenFor(index: FleetIndex, { hub, cluster, source }: FleetNode) {
  const [kind = '', namespace = '', name = ''] = source.id.split('/')
  return index.versionsOf(hub ?? cluster, sourceNamed(kind), namespace, name)
}

/** Nothing of what the platform applies from there is evaluated; a tenant's is confined, and has rules of its own. */
export const isUnread = ({ tenant, source: { opaque } }: FleetNode): boolean =>
  tenant === undefined && opaque !== undefined && opaque !== WANTED && opaque !== ASKED
