import { describe, expect, test } from 'vitest'
import { imageCoverage } from '../../../../src/admission/image-coverage.ts'
import { FleetIndex } from '../../../../src/fleet/facts/fleet-index.ts'
import { kindOf } from '../../../../src/fleet/facts/object-table.ts'
import { idOf } from '../../../../src/kube/object.ts'
import { fleetOf } from '../../../fleet/fleet-of.ts'
import { miniFleet } from '../../../fleet/mini-fleet.ts'

/** What is said of the images of one object of dev-team: `<list> <state>: <why>`. */
function coverage(policies: string, object: string): string[] {
  const fleet = fleetOf(
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': policies,
      },
      dev: { 'deploy/kustomization.yaml': 'resources: [web.yaml, asked.yaml]\n', 'deploy/asked.yaml': object },
    }),
  )
  const node = fleet.nodes.find(({ key }) => key.endsWith('/apps/dev-team'))!
  const asked = node.objects.find(one => idOf(one).name === 'asked')!
  const subject = { object: asked, id: idOf(asked), kind: kindOf(asked), node }
  return imageCoverage(new FleetIndex(fleet), subject).map(({ use, state, why }) =>
    [`${use.list} ${state}`, ...(why ? [why] : [])].join(': '),
  )
}

const state = (policies: string, object: string) => coverage(policies, object).map(one => one.split(/[ :]+/)[1])

const ATTESTORS = 'attestors: [{entries: [{keyless: {subject: "https://github.com/acme/*", issuer: "https://x"}}]}]'
const verify = (references: string, more = '', rule = '', spec = 'validationFailureAction: Enforce') => `---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: signed}
spec:
  ${spec}
  rules:
    - name: signatures
      match: {any: [{resources: {kinds: [Pod]}}]}
      ${rule}
      verifyImages: [{imageReferences: ${references}, ${ATTESTORS}${more}}]
`
const containers = (written: string) => `containers: [{name: a, image: "${written}"}]`
const pod = (written: string, labels = '') => `apiVersion: v1
kind: Pod
metadata: {name: asked, namespace: apps${labels}}
spec: {${containers(written)}}
`
const controller = (kind: string, version: string, template = '') => `apiVersion: ${version}
kind: ${kind}
metadata: {name: asked, namespace: apps}
spec: {template: {${template}spec: {${containers('ghcr.io/acme/web:v1')}}}}
`
const cron = `apiVersion: batch/v1
kind: CronJob
metadata: {name: asked, namespace: apps}
spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ${containers('ghcr.io/acme/web:v1')}}}}}}
`

const DIGEST = `sha256:${'0'.repeat(64)}`

describe('references are compared as Kyverno compares them', () => {
  test.each([
    ['ghcr.io/acme/*', 'ghcr.io/acme/web:v1', 'enforced'],
    ['ghcr.io/acme/web:*', 'ghcr.io/acme/web', 'enforced'],
    ['ghcr.io/acme/web:v1', 'ghcr.io/acme/web:v1.2', 'none'],
    // with a digest the tag is left out of what is compared
    ['ghcr.io/acme/web:*', `ghcr.io/acme/web@${DIGEST}`, 'none'],
    ['ghcr.io/acme/web:*', `ghcr.io/acme/web:v1@${DIGEST}`, 'none'],
    ['ghcr.io/acme/web*', `ghcr.io/acme/web:v1@${DIGEST}`, 'enforced'],
    // docker.io is added, library is not
    ['docker.io/*', 'nginx', 'enforced'],
    ['docker.io/nginx:latest', 'nginx', 'enforced'],
    ['docker.io/library/*', 'nginx', 'none'],
    ['nginx*', 'nginx', 'none'],
    ['docker.io/acme/*', 'acme/web', 'enforced'],
    ['localhost/acme/*', 'localhost/acme/web', 'enforced'],
    ['ghcr.io/acme/*', 'ghcr.io:443/acme/web:v1', 'none'],
    ['ghcr.io:443/*', 'ghcr.io:443/acme/web:v1', 'enforced'],
    ['ghcr.io/acme/*', 'GHCR.IO/acme/web:v1', 'none'],
    ['ghcr.io/*/web:*', 'ghcr.io/acme/deep/web:v1', 'enforced'],
    ['ghcr.io/acme-?/web:*', 'ghcr.io/acme-12/web:v1', 'none'],
    ['*', 'anything', 'enforced'],
    ['ghcr.io/acme/*', 'ghcr.io/ACME/web:v1', 'unknown'],
    ['ghcr.io/acme/*', 'ghcr.io/acme/web:v1 ', 'unknown'],
    ['{{ request.namespace }}/*', 'ghcr.io/acme/web', 'unknown'],
  ])('%s for %s: %s', (pattern, written, expected) => {
    expect(state(verify(`["${pattern}"]`), pod(written))).toEqual([expected])
  })
})

test('every list of containers and every kind that runs some', () => {
  const lists = `apiVersion: v1
kind: Pod
metadata: {name: asked, namespace: apps}
spec: {initContainers: [{name: i, image: a/b}], ${containers('ghcr.io/acme/web')}, ephemeralContainers: [{name: e, image: c}]}
`
  expect(coverage(verify('["ghcr.io/*"]'), lists)).toEqual([
    'initContainers none: imageReferences does not match',
    'containers enforced',
    'ephemeralContainers none: imageReferences does not match',
  ])
  const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].map(kind => controller(kind, 'apps/v1'))
  for (const one of [...kinds, controller('Job', 'batch/v1'), cron])
    expect(state(verify('["ghcr.io/*"]'), one)).toEqual(['enforced'])
  const template = `apiVersion: v1\nkind: PodTemplate\nmetadata: {name: asked, namespace: apps}\ntemplate: {spec: {${containers('x')}}}\n`
  expect(coverage(verify('["*"]'), template)).toEqual([])
})

describe('what a rule leaves out', () => {
  const ours = controller('Deployment', 'apps/v1', 'metadata: {labels: {team: dev, skip: "yes"}}, ')
  test.each([
    ['a skip pattern', verify('["*"]', ', skipImageReferences: ["ghcr.io/*"]'), 'none'],
    ['no attestors', verify('["*"]').replace(ATTESTORS, 'required: true'), 'none'],
    ['a key of the old form', verify('["*"]').replace(ATTESTORS, 'key: k8s://x/y'), 'enforced'],
    ['a namespace', verify('["*"]', '', 'exclude: {any: [{resources: {namespaces: [apps]}}]}'), 'none'],
    [
      'a label of the Pod',
      verify('["*"]', '', 'exclude: {any: [{resources: {selector: {matchLabels: {skip: "yes"}}}}]}'),
      'none',
    ],
    [
      'another label',
      verify('["*"]', '', 'exclude: {any: [{resources: {selector: {matchLabels: {skip: "no"}}}}]}'),
      'enforced',
    ],
    // controllers make the Pods
    [
      'accounts of kube-system',
      verify('["*"]', '', 'exclude: {any: [{subjects: [{kind: Group, name: "system:serviceaccounts:kube-system"}]}]}'),
      'none',
    ],
    [
      'the account of the tenant',
      verify('["*"]', '', 'exclude: {any: [{subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]}]}'),
      'enforced',
    ],
    [
      'a precondition',
      verify(
        '["*"]',
        '',
        'preconditions: {all: [{key: "{{ request.object.metadata.labels.team }}", operator: Equals, value: ops}]}',
      ),
      'none',
    ],
    ['Audit', verify('["*"]', '', '', 'validationFailureAction: Audit'), 'audited'],
    ['no action', verify('["*"]', '', '', 'background: false'), 'audited'],
    ['an action of its own', verify('["*"]', ', failureAction: Enforce', '', 'background: false'), 'enforced'],
    ['Audit of its own', verify('["*"]', ', failureAction: Audit'), 'audited'],
    ['reports only', verify('["*"]', '', '', 'admission: false\n  validationFailureAction: Enforce'), 'audited'],
    [
      'an override',
      verify(
        '["*"]',
        '',
        '',
        'validationFailureAction: Enforce\n  validationFailureActionOverrides: [{action: Audit, namespaces: [apps]}]',
      ),
      'audited',
    ],
    [
      'an exception',
      `${verify('["*"]')}---\napiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: x, namespace: flux-system}\nspec: {exceptions: [{policyName: signed, ruleNames: [signatures]}], match: {any: [{resources: {kinds: [Pod], namespaces: [apps]}}]}}\n`,
      'none',
    ],
    // the Pod has none of its own
    ['imageExtractors', verify('["*"]', '', 'imageExtractors: {Deployment: [{path: /spec/x}]}'), 'enforced'],
    ['imageExtractors for Pods', verify('["*"]', '', 'imageExtractors: {Pod: [{path: /spec/x}]}'), 'unknown'],
    [
      'another rule covers it',
      verify('["*"]', ', skipImageReferences: ["*"]') + verify('["*"]').replaceAll('signed', 'more'),
      'enforced',
    ],
    ['nothing', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: flux-system}\n', 'none'],
  ])('%s', (_, policy, expected) => expect(state(policy, ours)).toEqual([expected]))
})

test('what an ImageValidatingPolicy covers is not evaluated', () => {
  const policy = `---
apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: {name: signed}
spec: {validations: [{expression: "true"}]}
`
  expect(coverage(policy, pod('ghcr.io/acme/web'))).toEqual([
    'containers unknown: policies of kind ImageValidatingPolicy are not evaluated',
  ])
  expect(state(policy + verify('["ghcr.io/*"]'), pod('ghcr.io/acme/web'))).toEqual(['enforced'])
})

test('images of custom kinds are not evaluated', () => {
  const spec = `{template: {spec: {${containers('ghcr.io/acme/web:v1')}}}}`
  const object = `apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: asked, namespace: apps}\nspec: ${spec}\n`
  expect(state(verify('["ghcr.io/*"]'), object)).toEqual([])
})
