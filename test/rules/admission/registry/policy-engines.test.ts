import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type PolicyEngine, policyEngines } from '../../../../src/admission/policy-engines.ts'
import { isRestricting } from '../../../../src/fleet/bootstrap/lockdown.ts'
import { FleetIndex } from '../../../../src/fleet/facts/fleet-index.ts'
import { kindOf } from '../../../../src/fleet/facts/object-table.ts'
import { stringAt } from '../../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../../src/kube/object.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'
import { NO_QUERY } from '../../../../src/report/page/fleet-query.ts'
import { policiesSection } from '../../../../src/report/page/fleet-sections.ts'
import { html } from '../../../../src/report/page/html.ts'
import { admissionOf } from '../../../../src/rules/policies/admission.ts'
import { policyCoverage } from '../../../../src/rules/policies/policy-coverage.ts'
import { auditFleet } from '../../../../src/verdict/audit/audit-fleet.ts'
import { evaluationOf, fleetOf } from '../../../fleet/fleet-of.ts'
import { DEPLOYMENT, miniFleet } from '../../../fleet/mini-fleet.ts'

const SOURCE = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: asked, namespace: apps}
spec: {interval: 1m, url: "https://github.com/evil/app"}
`

/** What the policies of the fleet say about a source of dev-team. */
function asked(policies: string) {
  const fleet = fleetOf(
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': policies,
      },
      dev: { 'deploy/kustomization.yaml': 'resources: [web.yaml, asked.yaml]\n', 'deploy/asked.yaml': SOURCE },
    }),
  )
  const node = fleet.nodes.find(({ key }) => key.endsWith('/apps/dev-team'))!
  const object = node.objects.find(one => idOf(one).name === 'asked')!
  const subject = { object, id: idOf(object), kind: kindOf(object), node }
  const { findings, notEvaluated } = admissionOf(subject, { index: new FleetIndex(fleet), config: fleet.config })!
  return { findings, notEvaluated }
}

const kyverno = (rule: string, name = 'sources') => `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: ${name}}
spec:
  validationFailureAction: Enforce
  rules:
    - name: urls
      match: {any: [{resources: {kinds: [GitRepository]}}]}
${rule.replace(/^/gm, '      ')}
`
const PATTERN = 'validate: {message: ours, pattern: {spec: {url: "https://github.com/acme/*"}}}'

const admission = (expression: string, action = 'Deny', match = '') => `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: native}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: [gitrepositories]}]
  validations: [{expression: '${expression}', message: ours}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: native}
spec: {policyName: native, validationActions: [${action}]${match}}
`

/** An engine that nothing knows of but the list that it is in. */
const REPOS = 'constraints.gatekeeper.sh/AllowedRepos'
const constraints = (objects: readonly KubeObject[]) =>
  objects.map(object => {
    const { kind, namespace, name } = idOf(object)
    const rule = { policy: { kind, namespace, name }, rule: '', origin: object.root.origin }
    return { rule, allowed: stringAt(object.root, ['spec', 'allowed']) }
  })
const gatekeeper: PolicyEngine = {
  name: 'gatekeeper',
  kinds: [REPOS],
  companions: [],
  evaluate(world, { object }) {
    const image = stringAt(object.root, ['spec', 'template', 'spec', 'containers', 0, 'image'])
    const refused = constraints(world.policies(REPOS)).filter(
      ({ allowed }) => image !== undefined && !image.startsWith(allowed ?? ''),
    )
    const more = { field: ['spec'], message: 'not ours', action: 'deny' as const, by: 'Gatekeeper' }
    return { findings: refused.map(({ rule }) => ({ ...rule, ...more })), notEvaluated: [] }
  },
}
const constraint = (spec: string) => `---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: AllowedRepos
metadata: {name: repos}
spec: {${spec}}
`

describe('all engines are asked', () => {
  test('and say which policy refuses what, where, and what happens then', () => {
    const { findings, notEvaluated } = asked(kyverno(PATTERN) + admission('object.spec.url.startsWith("x")', 'Warn'))
    expect(notEvaluated).toEqual([])
    expect(findings).toMatchObject([
      {
        policy: { name: 'sources' },
        rule: 'urls',
        field: ['spec', 'url'],
        message: 'ours',
        action: 'deny',
        by: 'Kyverno',
      },
      { policy: { name: 'native' }, rule: 'native', message: 'ours', action: 'warn', by: 'Kubernetes' },
    ])
    expect(findings.map(({ origin }) => origin.file)).toEqual(['tenants/policies.yaml', 'tenants/policies.yaml'])
  })

  test.each([
    ['a library of the API server', admission('url(object.spec.url).getHost() == "x"'), 'ours'],
    ['an error', admission('object.spec.url.startsWith(object.spec.none)'), 'resulted in error: no such key: none'],
    [
      'a variable',
      admission('variables.host == "x"').replace(
        '  validations',
        '  variables: [{name: host, expression: "url(object.spec.url).getHost()"}]\n  validations',
      ),
      'ours',
    ],
  ])('CEL is evaluated by the evaluator of whole objects: %s', (_what, policies, words) => {
    const { findings, notEvaluated } = asked(policies)
    expect(notEvaluated).toEqual([])
    expect(findings).toMatchObject([{ policy: { name: 'native' }, action: 'deny' }])
    expect(findings[0]!.message).toContain(words)
  })
})

test('one entry of the registry reaches the check, the audit, the coverage and their page', () => {
  const list = policyEngines as PolicyEngine[]
  list.push(gatekeeper)
  try {
    const given = miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': constraint('allowed: "ghcr.io/"'),
      },
      dev: { 'deploy/kustomization.yaml': 'resources: [web.yaml]\n', 'deploy/web.yaml': DEPLOYMENT },
    })
    const { violations } = evaluationOf(given).verdict
    expect(violations).toMatchObject([{ rule: 'policy-denied', policy: { kind: 'AllowedRepos', name: 'repos' } }])
    const fleet = fleetOf(given)
    const items = auditFleet(fleet, ['staging'])[0]!.items
    expect(items.filter(({ check }) => check === 'policies-first')).toHaveLength(1)
    const covered = policyCoverage(fleet, ['staging'])
    expect(covered).toMatchObject([{ kind: 'AllowedRepos', rules: [{ denied: 1 }] }])
    const page = policiesSection(covered, NO_QUERY, { here: '', commits: {} })
    expect(html`${page}`.toString()).toContain('1 denied')
  } finally {
    list.pop()
  }
})

describe('what cannot be evaluated is said, and no finding', () => {
  test.each([
    [
      'preconditions about an object that is not there',
      kyverno(
        `context: [{name: a, configMap: {name: a}}]\npreconditions: {all: [{key: "{{ a.data.b }}", operator: Equals, value: c}]}\n${PATTERN}`,
      ),
      'ConfigMap default/a is not in the fleet',
    ],
    [
      'context of the cluster',
      kyverno(
        `context: [{name: a, apiCall: {urlPath: /api/v1/namespaces}}]\nvalidate: {message: ours, deny: {conditions: {any: [{key: "{{ request.object.spec.url }}", operator: In, value: "{{ a }}"}]}}}`,
      ),
      'it lists namespaces',
    ],
    ['what only the cluster has', admission('object.spec.url == object.metadata.uid'), 'set by the cluster'],
    ['CEL that cannot be read', admission('object.spec.url == @'), 'is not supported: unexpected'],
    [
      'parameters that nobody renders',
      `${admission('object.spec.url == params.data.url').replace('policyName: native,', 'policyName: native, paramRef: {name: a, namespace: b},').replace('  matchConstraints', '  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints')}`,
      'does not render the parameters',
    ],
    [
      'a selector that cannot be read',
      admission(
        'false || object.spec.url == "x"',
        'Deny',
        ', matchResources: {namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}}',
      ),
      'its selector is not one that the API server accepts',
    ],
  ])('%s', (_what, policies, why) => {
    const { findings, notEvaluated } = asked(policies)
    expect(findings).toEqual([])
    expect(notEvaluated).toHaveLength(1)
    expect(notEvaluated[0]!.why).toContain(why)
    expect(notEvaluated[0]!.origin.file).toBe('tenants/policies.yaml')
  })

  test.each([
    ['preconditions that are met', `preconditions: {all: []}\n${PATTERN}`, true],
    ['preconditions that are not', `preconditions: {all: [{key: a, operator: Equals, value: b}]}\n${PATTERN}`, false],
    [
      'preconditions of one operation',
      `preconditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: UPDATE}]}\n${PATTERN}`,
      false,
    ],
    ['a context that nobody asks for', `context: [{name: a, configMap: {name: a}}]\n${PATTERN}`, true],
    ['a comparison', 'validate: {message: ours, pattern: {spec: {url: ">5"}}}', true],
    [
      'a deny with a function',
      'validate: {message: ours, deny: {conditions: [{key: "{{ contains(request.object.spec.url, \'evil\') }}", operator: Equals, value: true}]}}',
      true,
    ],
    [
      'a deny of others',
      'validate: {message: ours, deny: {conditions: [{key: "{{ contains(request.object.spec.url, \'acme\') }}", operator: Equals, value: true}]}}',
      false,
    ],
  ])('%s is evaluated', (_what, rule, isRefused) => {
    const { findings, notEvaluated } = asked(kyverno(rule))
    expect(notEvaluated).toEqual([])
    expect(findings).toHaveLength(isRefused ? 1 : 0)
  })

  test('labels of the Namespace are those of the fleet', () => {
    const selector = 'namespaceSelector: {matchLabels: {"kubernetes.io/metadata.name": NAME}}'
    const audited = (name: string) =>
      kyverno(PATTERN).replace(
        '  rules:',
        `  validationFailureActionOverrides: [{action: Audit, ${selector.replace('NAME', name)}}]\n  rules:`,
      )
    const excepted = (name: string) => `${kyverno(PATTERN)}---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: some}
spec:
  exceptions: [{policyName: sources, ruleNames: [urls]}]
  match: {any: [{resources: {kinds: [GitRepository], ${selector.replace('NAME', name)}}}]}
`
    const actionsOf = (policies: string) => {
      return asked(policies).findings.map(({ action }) => action)
    }
    expect([actionsOf(audited('apps')), actionsOf(audited('other'))]).toEqual([['audit'], ['deny']])
    expect([actionsOf(excepted('apps')), actionsOf(excepted('other'))]).toEqual([[], ['deny']])
  })

  test('the roles of the account are those that the fleet binds', () => {
    expect(asked(kyverno(PATTERN).replace('resources:', 'clusterRoles: [admin], resources:'))).toEqual({
      findings: [],
      notEvaluated: [],
    })
  })

  test.each([
    ['an address that is allowed', kyverno(PATTERN.replace('acme', 'evil'))],
    ['another kind', kyverno(`preconditions: {all: []}\n${PATTERN}`).replace('[GitRepository]', '[Bucket]')],
    [
      'an exception',
      `${kyverno(`context: []\n${PATTERN}`)}---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: all}
spec: {exceptions: [{policyName: sources, ruleNames: [urls]}], match: {any: [{resources: {kinds: [GitRepository]}}]}}
`,
    ],
    [
      'a policy without a binding',
      admission('object.spec.url == "x"').replace('policyName: native', 'policyName: other'),
    ],
  ])('nothing is said of %s', (_what, policies) => {
    expect(asked(policies)).toEqual({ findings: [], notEvaluated: [] })
  })
})

describe('the registry', () => {
  test('is all that others see of the engines', () => {
    const root = new URL('../../../../src/', import.meta.url)
    const files = readdirSync(root, { recursive: true }).map(String)
    const outside = files.filter(file => file.endsWith('.ts') && !file.startsWith('admission/'))
    const imported = outside.flatMap(file =>
      [...readFileSync(new URL(file, root), 'utf8').matchAll(/from '[./]*\.\/admission\/(.+)'/g)].map(
        ([, path]) => path,
      ),
    )
    const images = ['image-coverage.ts', 'image-uses.ts']
    const doors = [
      'policy-engines.ts',
      'admission/admission-request.ts',
      'admission/defaults.ts',
      'kyverno/kyverno-settings.ts',
      'jmespath/values.ts',
    ]
    expect(new Set(imported)).toEqual(new Set([...doors, ...images]))
  })

  test('has engines of different names, for kinds that nobody else has', () => {
    const kinds = policyEngines.flatMap(engine => engine.kinds)
    expect(new Set(policyEngines.map(({ name }) => name)).size).toBe(policyEngines.length)
    expect(new Set(kinds).size).toBe(kinds.length)
  })

  test('names kinds that restrict, so that none is taken for absent where a build shows less', () => {
    for (const kind of policyEngines.flatMap(engine => engine.kinds)) {
      const [group, name] = kind.split('/')
      const text = `apiVersion: ${group}/v1\nkind: ${name}\nmetadata: {name: a}\n`
      const [root] = parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))
      expect([kind, root?.type === 'map' && isRestricting({ root, trail: [] })]).toEqual([kind, true])
    }
  })
})
