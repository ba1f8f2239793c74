import { BailiwickError } from '../../src/base/errors.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import type { EvaluatedNode, Finding } from '../../src/rules/model/finding.ts'
import type { HumanDecisions } from '../../src/verdict/decide.ts'
import { FLEET, failure, finding, HOSTILE, hostile, OPS, overLong, twoViolations, verdict } from './samples.ts'

/** What is said, where, and the outcome that it is said of. */
interface Situation {
  readonly outcome: Outcome
  readonly context: ReportContext
}

/** A pull request of ops-team that changes the patch that moves its Deployment. */
export const context: ReportContext = {
  kind: 'pull-request',
  repository: OPS,
  headSha: '1a2b3c4d5e6f708192a3b4c5d6e7f80910111213',
  fleet: { repository: FLEET, commit: '99887766554433221100ffeeddccbbaa00112233' },
  changedPaths: new Set(['steal.yaml', 'base/secret.yaml', 'kustomization.yaml']),
}

const DEV = 'https://github.com/acme/dev-team'

/** A node that renders a repository's content. */
export function node(key: string, url: string, over: Partial<EvaluatedNode> = {}): EvaluatedNode {
  const [cluster = '', namespace = '', name = ''] = key.split('/')
  return {
    ...{ key, cluster, namespace, name, parent: null, user: `system:serviceaccount:${namespace}:${name}` },
    ...{ impersonated: true, tenant: name, dependsOn: [], suspend: false, prune: true, digest: 'd1' },
    settings: DEFAULT_SETTINGS,
    source: { id: `GitRepository/${namespace}/${name}`, url, commit: 'c1', opaque: null },
    ...{ findings: [], failures: [], objects: [], hides: [], refused: [] },
    ...over,
  }
}

const said = (outcome: Outcome, over: Partial<ReportContext> = {}): Situation => ({
  outcome,
  context: { ...context, ...over },
})
const amid = (over: Partial<HumanDecisions>): Partial<ReportContext> => ({
  decisions: { missing: [], worse: [], ...over },
})
const failed = (...violations: Finding[]) => verdict({ result: 'fail', violations })
const plain = (over: Partial<Finding>) => finding({ level: 'warning', ...over })

/** Another rule, on the other cluster, of the other tenant. */
const broken = (over: Partial<Finding> = {}) =>
  finding({
    rule: 'sa-required',
    severity: 'high',
    cluster: 'production',
    tenant: 'dev-team',
    identity: 'system:serviceaccount:apps:dev-team',
    object: {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      namespace: 'apps',
      name: 'dev-team',
    },
    field: '/spec/serviceAccountName',
    origin: { repository: FLEET, file: 'tenants/base/dev-team/sync.yaml', line: 14, column: 3 },
    via: [],
    message: 'Kustomization apps/dev-team names no account.',
    fix: 'Set `spec.serviceAccountName` to dev-team.',
    clusterAnswer: 'applies it as `system:serviceaccount:apps:dev-team`, whatever that account may do',
    node: 'production/apps/dev-team',
    fingerprint: 'f9',
    ...over,
  })

const demand = {
  rule: 'gate-config-change',
  message:
    'The change edits `.github/bailiwick.yaml`, which decides what everybody may do; a fleet admin has to approve it.',
  fix: 'Ask a fleet admin for an approving review.',
  path: '.github/bailiwick.yaml',
}

const many = (number: number) =>
  failed(
    ...Array.from({ length: number }, (_, index) =>
      finding({
        origin: { repository: OPS, file: 'steal.yaml', line: index + 1, column: 1 },
        fingerprint: `f${index}`,
      }),
    ),
  )

/** What can be said on a commit, each with its own golden. */
export const SITUATIONS: Readonly<Record<string, () => Situation>> = {
  pass: () => said(verdict()),
  untouched: () => said(undefined),
  'untouched-on-hold': () => said(undefined, amid({ hold: { by: 'ada' } })),
  'fail-by-several-rules': () =>
    said(
      verdict({
        ...twoViolations(),
        warnings: [
          plain({ rule: 'pod-priority', severity: 'low', message: 'Deployment ops/web asks for a priority.' }),
        ],
      }),
      { fixable: true },
    ),
  'fail-on-both-clusters': () =>
    said(failed(finding(), finding({ cluster: 'production', node: 'production/ops/ops-team' }))),
  'fail-away-from-the-change': () => said(failed(finding()), { changedPaths: new Set(['base/dashboard.yaml']) }),
  'error-of-a-node': () => said(verdict({ result: 'error', errors: [failure()] })),
  'error-before-a-verdict': () =>
    said(new BailiwickError('merge-conflict', 'the branch conflicts with main', { fix: 'Resolve the conflict.' })),
  'error-of-the-fleet-for-a-tenant': () =>
    said(new BailiwickError('graph-limits', 'the sources of dev-team lead to more than 16 levels'), {
      audience: ['ops-team'],
    }),
  hold: () => said(verdict(), amid({ hold: { by: 'ada' } })),
  'hold-over-an-override': () =>
    said(twoViolations(), amid({ hold: { by: 'ada' }, override: { by: 'grace', reason: 'incident 42' } })),
  override: () =>
    said(twoViolations(), amid({ override: { by: 'ada', reason: 'the gate is wrong, see incident 42' } })),
  demand: () =>
    said(verdict(), { repository: FLEET, ...amid({ missing: [demand, { ...demand, rule: 'gate-workflow-change' }] }) }),
  'demand-and-violations': () => said(twoViolations(), { repository: FLEET, ...amid({ missing: [demand] }) }),
  'worse-of-another-pull-request': () => said(failed(finding()), amid({ worse: [12] })),
  'report-mode': () =>
    said(
      verdict({
        warnings: [
          plain({ reported: true }),
          plain({ rule: 'pod-priority', severity: 'low', message: 'Deployment ops/web asks for a priority.' }),
        ],
      }),
    ),
  fork: () => said(twoViolations(), { fixable: false, ...amid({ missing: [] }) }),
  'fork-that-needs-a-maintainer': () =>
    said(
      verdict(),
      amid({
        missing: [
          {
            rule: 'gate-fork-untrusted',
            message: 'The change comes from a fork; a maintainer has to agree to it.',
            fix: 'Ask a maintainer for an approving review.',
          },
        ],
      }),
    ),
  'merge-group': () => said(failed(finding()), { kind: 'merge-group' }),
  branch: () => said(failed(finding()), { kind: 'branch', changedPaths: undefined as never }),
  'fleet-that-breaks-tenants': () =>
    said(failed(broken(), broken({ fingerprint: 'f10', field: '/spec/targetNamespace' }), finding()), {
      repository: FLEET,
      nodes: [
        node('production/apps/dev-team', DEV),
        node('staging/ops/ops-team', OPS),
        node('staging/flux-system/tenants', FLEET),
      ],
    }),
  standing: () =>
    said(verdict({ violations: [finding({ state: 'standing' })], errors: [failure({ state: 'standing' })] })),
  waived: () =>
    said(
      verdict({
        violations: [finding({ state: 'waived', message: 'Moved on purpose. Waived by ada until 2027-03-31.' })],
      }),
    ),
  fixed: () => said(verdict({ violations: [finding({ state: 'fixed' })] })),
  'annotations-51': () => said(many(51)),
  'for-the-tenant': () => said(twoViolations(), { audience: ['ops-team'] }),
  'of-another-tenant': () => said(twoViolations(), { audience: ['dev-team'], repository: DEV }),
  'hostile-names': () =>
    said(hostile(), {
      changedPaths: new Set([HOSTILE]),
      ...amid({
        override: { by: HOSTILE, reason: HOSTILE },
        missing: [{ rule: 'gate-config-change', message: HOSTILE, fix: HOSTILE, path: HOSTILE }],
        worse: [7],
      }),
    }),
  'over-long': () =>
    said(overLong(), {
      changedPaths: new Set(Array.from({ length: 400 }, (_, n) => `web-${String(n).padStart(3, '0')}.yaml`)),
    }),
}
