import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import { GIT_REPOSITORY, OCI_REPOSITORY } from '../../flux/kinds.ts'
import { type Path, stringAt } from '../../kube/node.ts'
import type { ObjectId } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { feedsReleasesOnly } from './support/feeds-something.ts'

const NAME = ['spec', 'ref', 'name']
const TAG = ['spec', 'ref', 'tag']
const SEMVER = ['spec', 'ref', 'semver']
/** Of what is pinned nothing moves. */
const PINS = [
  ['spec', 'ref', 'commit'],
  ['spec', 'ref', 'digest'],
]

/** What is deployed changes only by a change that somebody evaluated. */
export const sourceMutableRef: Rule = {
  id: 'source-mutable-ref',
  severity: 'medium',
  level: 'warning',
  title: 'Source that follows a tag or version range',
  why: 'A tag can be moved, and a version range matches every newer tag. Everyone who can push a tag can deploy without a pull request.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Reference"',
  docs: 'Follow a branch, or pin `spec.ref.commit` (for an OCIRepository `spec.ref.digest`). A version range (`spec.ref.semver`) is a violation on clusters with `prod` or `production` in their name. There, every newer tag is deployed automatically. For a chart that only HelmReleases use, it stays a warning. A platform Kustomization that starts to follow a ref other than a branch needs an approval.',
  kinds: [GIT_REPOSITORY, OCI_REPOSITORY],
  *checkTenantObject({ object, id, kind, node }, { index }) {
    if (PINS.some(path => stringAt(object.root, path))) return
    const name = stringAt(object.root, NAME)
    const paths: Path[] = kind === GIT_REPOSITORY ? (name ? [] : [SEMVER, TAG]) : [SEMVER]
    if (kind === GIT_REPOSITORY && name?.startsWith('refs/tags/')) paths.push(NAME)
    const path = paths.find(one => stringAt(object.root, one))
    if (!path) return
    const value = stringAt(object.root, path) ?? ''
    const isRange = path === SEMVER && !/^\s*=?\s*v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?\s*$/.test(value)
    yield {
      node,
      object,
      path,
      value,
      message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${isRange ? 'every newer tag in' : 'the tag'} ${quoted('value', value)}: its content can change without an evaluation. Allowed: a branch, a commit or a digest. Flux accepts it.`,
      fix: kind === GIT_REPOSITORY ? message`Set spec.ref.branch or spec.ref.commit.` : message`Set spec.ref.digest.`,
      ...(isRange && isProduction(node.cluster) && !isChart(index, node.cluster, kind, id)
        ? { level: 'violation' }
        : {}),
    }
  },
}

/** A range of versions is how releases follow a chart; of manifests it deploys whatever is tagged next. */
const isChart = (index: FleetIndex, cluster: string, kind: string, id: ObjectId) =>
  kind !== GIT_REPOSITORY && feedsReleasesOnly(index, cluster, id)

const isProduction = (cluster: string) => /(?:^|[-_.])(?:prod|prd|production)\d*(?:[-_.]|$)/i.test(cluster)
