import { message, part, untyped } from '../../base/message.ts'
import { controllerFlags, featureGate } from '../../fleet/bootstrap/lockdown.ts'
import { chartKey, sourceOfChart } from '../../fleet/facts/charts.ts'
import { kindOf, type Naming } from '../../fleet/facts/object-table.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import { addressOf } from '../../fleet/facts/sources.ts'
import { type FleetNode, WANTED } from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds } from '../../fleet/model/kustomization-spec.ts'
import {
  FLUX_INSTANCE,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  KUSTOMIZATION,
  kindsThat,
  RESOURCE_SET,
  sourceNamed,
} from '../../kube/flux-kinds.ts'
import { at, canonical } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'

const OPAQUE = kindsThat(row => row.source === 'opaque')
const CHARTS = [HELM_RELEASE, HELM_CHART]
const CONTROLLERS = ['apps/Deployment', FLUX_INSTANCE]
/** Of other controllers, which apply what only they build: Terraform, KluctlDeployment, CueInstance. */
const APPLIERS = applierKinds.filter(kind => ![KUSTOMIZATION, HELM_RELEASE, RESOURCE_SET].includes(kind))
const FIX = message`Review the content before the merge, or move it to git.`
const GIT_FIX = message`Review the content before the merge, or give Bailiwick access to the repository.`

/** What Bailiwick cannot see is listed when it is added. */
export const sourceOpaque: Rule = {
  id: 'source-opaque',
  severity: 'medium',
  level: 'warning',
  title: 'Source that is not visible',
  why: 'Bailiwick does not evaluate the content of registries, buckets, charts and unreadable repositories. Only the rights of the applying account limit it.',
  source: 'flux2 docs: Helm DNS lookups; Kubernetes multi-tenancy benchmarks',
  docs: "No action is required where the tenant's account is confined to its namespaces. The warning appears once, in the change that adds the source or chart. `notSeen` always lists it. Charts from a registry or Helm repository that the platform declares are not reported. `opaqueSources: forbid` in .github/bailiwick.yaml makes the finding a violation. Other content of a source that is not visible needs an approval where the platform applies it (source, revision, path, account or form; a later version is the warning `source-new-version`). It names a Terraform, KluctlDeployment or CueInstance of a tenant too, because only its controller builds the content. The rule also reports DNS lookups in charts (the feature gate AllowDNSLookups), which can leak data.",
  kinds: [...OPAQUE, ...CHARTS, ...CONTROLLERS, ...APPLIERS],
  *checkObject(subject, context) {
    if (CONTROLLERS.includes(subject.kind)) yield* evaluateController(subject)
    else if (subject.node.tenant === undefined || !isAsked(context)) return
    else if (OPAQUE.includes(subject.kind)) yield* evaluateSource(subject, context)
    else if (APPLIERS.includes(subject.kind)) yield* evaluateApplier(subject, context)
    else yield* evaluateChart(subject, context)
  },
  *checkNode(node, context) {
    if (node.tenant !== undefined && isAsked(context)) yield* evaluateNode(node, context)
  },
}

const isAsked = ({ before, config }: RuleContext) => before !== undefined || config.forbidOpaqueSources

const levelOf = ({ config }: RuleContext) => (config.forbidOpaqueSources ? ({ level: 'violation' } as const) : {})

function* evaluateSource(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { object, id, kind, node } = subject
  const found = addressOf(kind, object)
  const known = context.before?.found(node.cluster, kind, id.namespace, WRITTEN, found?.written ?? NOWHERE) ?? []
  const isSame = known.length > 0
  if (isSame && !context.config.forbidOpaqueSources) return
  const from = found?.written ? message` from ${quoted('repository', found.written)}` : ''
  yield subject.violation(found?.path ?? ['spec'], found?.written ?? id.name, {
    message: message`${subject.who} deploys content${from} that is not in git and not evaluated. ${confined(node)}.`,
    fix: FIX,
    ...levelOf(context),
  })
}

/** What another controller builds and applies, if the namespace has nothing yet that builds the same. */
function* evaluateApplier(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { object, id, kind, node } = subject
  const { index, before, config } = context
  const value = builtText(object)
  const isKnown = (before?.found(node.cluster, kind, id.namespace, BUILT, value) ?? []).length > 0
  if (isKnown && !config.forbidOpaqueSources) return
  const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
  const user = account === undefined ? message`its controller` : part('identity', userOfAccount(id.namespace, account))
  yield subject.violation(subject.at(['spec', 'path']) ? ['spec', 'path'] : ['kind'], value, {
    message: message`${subject.who} deploys what Bailiwick does not build and evaluate. Only the rights of ${user} limit it.`,
    fix: message`Review the content before the merge.`,
    ...levelOf(context),
  })
}

const builtText = (object: KubeObject): string =>
  ['sourceRef', 'source', 'path']
    .map(field => at(object.root, ['spec', field]))
    .map(one => (one ? canonical(one) : ''))
    .join(' ')
const BUILT: Naming = { id: 'built', of: ({ object }) => [builtText(object)] }

const NOWHERE = '\0'
const WRITTEN: Naming = {
  id: 'written address',
  of: ({ object }) => [addressOf(kindOf(object), object)?.written ?? NOWHERE],
}

function* evaluateChart(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { object, kind, node } = subject
  const { index, config } = context
  const chart = sourceOfChart(object, kind)
  if (!chart || !(config.forbidOpaqueSources || isNewChart(subject, context))) return
  const key = chartKey(index, node.cluster, chart)
  // A tenant's own source is listed itself. The platform's charts are known; a person who can push to a git repository
  // writes its charts.
  if (chart.name === '' && chart.isOpaqueKind && isTenants(context, node, chart.source)) return
  yield subject.violation(chart.path, key, {
    message: message`${subject.who} deploys the chart ${quoted('object', key)}, whose templates are not evaluated. ${confined(node)}.`,
    fix: sourceNamed(chart.source.kind) === GIT_REPOSITORY ? message`Review the chart before the merge.` : FIX,
    ...levelOf(context),
  })
}

/** Whether a tenant deploys a chart that its namespace did not before, and that this rule reports. */
export function isNewChart({ object, id, kind, node }: Subject, context: RuleContext): boolean {
  const { before, index, config } = context
  const chart = sourceOfChart(object, kind)
  if (!chart || node.tenant === undefined) return false
  const isOffered = sourceNamed(chart.source.kind) !== GIT_REPOSITORY && isPlatforms(context, node, chart.source)
  if (isOffered && !config.forbidOpaqueSources) return false
  return !before?.knownCharts(node.cluster, id.namespace).has(`${kind} ${chartKey(index, node.cluster, chart)}`)
}

function* evaluateNode(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { opaque, id, url } = node.source
  if (opaque === undefined || opaque === WANTED || url === '') return
  const [kind = '', namespace = '', name = ''] = id.split('/')
  const full = sourceNamed(kind)
  if (OPAQUE.includes(full) && isTenants(context, node, { kind, namespace, name })) return
  const was = context.before?.node(node.key)?.source
  if (was?.url === url && was.opaque !== undefined && !context.config.forbidOpaqueSources) return
  yield Subject.ofNode(node, context.index.node(node.parent)).violation(['spec', 'sourceRef'], url, {
    message: message`${objectPart('Kustomization', node.namespace, node.name)} follows ${quoted('repository', url)}, which is not visible (${untyped(opaque)}). ${confined(node)}.`,
    fix: sourceNamed(kind) === GIT_REPOSITORY ? GIT_FIX : FIX,
    ...levelOf(context),
  })
}

interface Named {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

const isTenants = (context: RuleContext, node: FleetNode, source: Named) =>
  writersOf(context, node, source).some(tenant => tenant !== undefined)

const isPlatforms = (context: RuleContext, node: FleetNode, source: Named) =>
  writersOf(context, node, source).includes(undefined)

function writersOf({ index }: RuleContext, { cluster }: FleetNode, { kind, namespace, name }: Named) {
  const versions = index.versionsOf(cluster, sourceNamed(kind), namespace, name)
  return versions.map(one => one.node.tenant)
}

/** DNS lookups in templates, as helm-controller allows them where the platform says so. */
function* evaluateController(subject: Subject): Iterable<Violation> {
  const { object, id, kind, node } = subject
  const isOn =
    kind === 'apps/Deployment'
      ? id.name === 'helm-controller' && featureGate(controllerFlags(object, id.name), 'AllowDNSLookups') === true
      : canonical(object.root).includes('AllowDNSLookups=true')
  if (!isOn || node.tenant !== undefined) return
  yield subject.violation(['spec'], 'AllowDNSLookups', {
    message: message`${subject.who} allows DNS lookups in charts (AllowDNSLookups). Templates of a tenant's chart, which are not evaluated, can leak data. Allowed: no DNS lookups.`,
    fix: message`Remove the feature gate AllowDNSLookups.`,
  })
}

const confined = ({ identity }: FleetNode) => message`Only the rights of ${identityPart(identity)} limit it`

/** A source holds one repository. */
export const sourceInclude: Rule = {
  id: 'source-include',
  severity: 'high',
  title: 'Source that includes another source',
  why: '`spec.include` copies files of another repository over those of the source. A writer of that repository can replace evaluated files, and all of them with `toPath: ./`. Bailiwick does not evaluate such a source.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Include"',
  docs: 'Declare a source and a Kustomization for each repository, or copy directories together with an ArtifactGenerator.',
  kinds: [GIT_REPOSITORY],
  *checkTenantObject(subject) {
    for (const include of subject.items(['spec', 'include', '*'])) {
      const path = [...include, 'repository', 'name']
      const name = subject.text(path) ?? ''
      yield subject.violation(path, name, {
        message: message`${subject.who} includes ${objectPart('GitRepository', subject.id.namespace, name)}. Allowed: one repository for each source.`,
        fix: message`Remove the include. Declare a Kustomization for the other source.`,
      })
    }
  },
}
