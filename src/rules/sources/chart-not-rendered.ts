import { contentKey } from '../../facts/chart-parts-of.ts'
import { changedField, releaseInputs } from '../../facts/release-inputs.ts'
import { objectPart } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { chartSpecOf } from '../../fleet/charts/chart-of.ts'
import type { ChartPart } from '../../fleet/charts/chart-parts.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { idOf } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isAsked } from './chart-content-change.ts'
import { isNewChart } from './source-opaque.ts'
import { changedFiles } from './support/changed-files.ts'

const FIX = message`Review the objects before the merge, for example with helm template.`

/** What a release creates is not evaluated, so a change of it is never plain green. */
export const chartNotRendered: Rule = {
  id: 'chart-not-rendered',
  severity: 'medium',
  level: 'warning',
  title: 'Changed chart, version or values',
  why: "Bailiwick does not render charts, so it does not evaluate the objects that a HelmRelease creates. Only the rights of the release's account limit them.",
  source: 'https://fluxcd.io/flux/components/helm/helmreleases/',
  docs: 'Compare what `helm template` prints before and after the change. The rule reports a new HelmRelease and a change of its chart, version, values, post-renderers or target namespace. It reports a change of the HelmChart, source, ConfigMap or Secret that the release names once, at the changed line. A chart of the platform in git counts too. HelmReleases that did not change are only counted. `unrenderedCharts: approve` in .github/bailiwick.yaml requires the approval of a fleet admin. The rules `source-opaque` and `chart-content-change` report new charts of tenants and charts that tenants write. The rule compares with the base.',
  kinds: [HELM_RELEASE],
  *checkObject(subject, context) {
    const { before, index } = context
    const { node, object, id } = subject
    if (!before || !chartSpecOf(object) || isNewChart(subject, context)) return
    const known = before.knownCharts(node.cluster, id.namespace)
    const parts = index.chartParts(node.key, object)
    const isOther = Array.isArray(parts) && !known.has(`content ${contentKey(parts)}`)
    if (isOther && isAsked(subject, context, parts)) return
    const changed = releaseInputs(index, subject).find(({ key }) => !known.has(`input ${key}`))
    if (changed) {
      const { kind, namespace, name } = idOf(changed.object)
      const was = before.versionsOf(node.cluster, changed.kind, namespace, name)[0]?.object
      const who = objectPart(kind, namespace, name)
      yield {
        node: changed.node,
        object: changed.object,
        path: was ? changedField(was, changed.object) : ['spec'],
        value: changed.key,
        message:
          kind === 'HelmRelease'
            ? message`${who} ${was ? 'changes' : 'is new'}: charts are not rendered, so the objects that it creates are not evaluated.`
            : message`${who} ${was ? 'changes' : 'is new'}, and HelmReleases deploy from it: charts are not rendered, so the objects that they create are not evaluated.`,
        fix: FIX,
      }
    } else if (isOther) yield changedContent(subject, context, parts)
  },
}

/** A chart in git that the platform writes. */
function changedContent({ node, object, id }: Subject, context: RuleContext, parts: readonly ChartPart[]): Violation {
  const { first } = changedFiles(context.index, context.before!, parts.slice(1))
  return {
    node,
    object,
    path: chartSpecOf(object)!.field,
    ...(first ? { origin: first } : {}),
    value: contentKey(parts),
    message: message`${objectPart(id.kind, id.namespace, id.name)}: its chart changes in git. Charts are not rendered, so the objects that it creates are not evaluated.`,
    fix: FIX,
  }
}
