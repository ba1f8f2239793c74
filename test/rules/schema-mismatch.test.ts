import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/rules/model/finding.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'
import { WIDGET, WIDGETS } from './schema/custom/widget.ts'

const CONFIG_MAP = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: apps\ndata:\n${data}`
const DECLARED = '.github/bailiwick.yaml'

const given = (object: string, config?: string) =>
  miniFleet({ dev: withResource(object), ...(config === undefined ? {} : { fleet: { [DECLARED]: config } }) })
const found = (object: string, config?: string) => ofTenant(evaluationOf(given(object, config)).verdict.violations)
const ofTenant = (violations: readonly Finding[]) =>
  violations.filter(({ rule, tenant }) => rule === 'schema-mismatch' && tenant === 'dev-team')

const EVERY = 'kubernetes: [{version: "1.36"}]\n'

test('a declared version makes what its API server refuses a violation, at the line of the field', () => {
  const [violation, ...others] = found(CONFIG_MAP('  port: 8080\n'), EVERY)
  expect(others).toEqual([])
  expect(violation).toMatchObject({
    origin: { file: 'deploy/extra.yaml', line: 7, column: 9 },
    tenant: 'dev-team',
    object: { kind: 'ConfigMap', name: 'settings' },
  })
  expect(JSON.stringify(violation?.message)).toContain('Allowed: ')
  expect(evaluationOf(given(CONFIG_MAP('  port: 8080\n'), EVERY)).verdict.result).toBe('fail')
})

describe('what is no violation', () => {
  test.each([
    ['the same object written as the API server wants it', CONFIG_MAP('  port: "8080"\n'), EVERY],
    ['the same object where no version is known', CONFIG_MAP('  port: "8080"\n'), undefined],
  ])('%s', (_what, object, config) => {
    expect(found(object, config)).toEqual([])
  })

  test('what stands before the change', () => {
    const base = given(CONFIG_MAP('  port: 8080\n'), EVERY)
    const { verdict } = evaluationOf(base, { base })
    expect(verdict.result).toBe('pass')
    expect(ofTenant(verdict.violations).map(({ state }) => state)).toEqual(['standing'])
  })
})

describe('which version a cluster runs', () => {
  const POD =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: apps}\nspec:\n  containers: [{name: a, image: b, restartPolicyRules: [{action: Restart}]}]\n'
  /** Served up to 1.33. */
  const BAD =
    'apiVersion: resource.k8s.io/v1alpha3\nkind: ResourceClaim\nmetadata: {name: x, namespace: apps}\nspec: {}\n'
  /** A fleet whose platform renders more objects. */
  const withPlatform = (objects: string, object = BAD) =>
    miniFleet({
      dev: withResource(object),
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, versions.yaml]\n',
        'tenants/versions.yaml': objects,
      },
    })
  const levels = (given: Parameters<typeof evaluationOf>[0]) => {
    const { violations, warnings } = evaluationOf(given).verdict
    return [...ofTenant(violations), ...ofTenant(warnings)].map(({ level }) => level)
  }
  const plan = (version: string, image = 'rancher/k3s-upgrade', name = 'server') =>
    `apiVersion: upgrade.cattle.io/v1\nkind: Plan\nmetadata: {name: ${name}, namespace: system-upgrade}\nspec: {version: ${version}, upgrade: {image: ${image}}}\n`
  const upgrade = (version: string) =>
    `apiVersion: tuppr.home-operations.com/v1alpha1\nkind: KubernetesUpgrade\nmetadata: {name: kubernetes}\nspec: {kubernetes: {version: ${version}}}\n`
  const named = (kind: string, spec: string, name = 'staging') =>
    `apiVersion: ${kind.split(' ')[0]}\nkind: ${kind.split(' ')[1]}\nmetadata: {name: ${name}, namespace: clusters}\nspec: ${spec}\n`

  test.each([
    ['no object says it', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: clusters}\n', 'warning'],
    ['a Plan of k3s', plan('v1.36.1+k3s1'), 'violation'],
    [
      'a Plan of RKE2 from another registry',
      plan('v1.36.1+rke2r1', 'registry.example.com/rancher/rke2-upgrade:v1'),
      'violation',
    ],
    ['a Plan of the operating system', plan('v1.36.1', 'example.com/upgrade-os'), 'warning'],
    ['a version without a patch', upgrade('v1.36'), 'violation'],
    ['a plain version that is a number', upgrade('1.36'), 'violation'],
    ['a version of a later time', upgrade('v1.99.0'), 'warning'],
    ['what is no version', upgrade('latest'), 'warning'],
    [
      'agents one version behind',
      `${plan('v1.36.1+k3s1')}---\n${plan('v1.35.4+k3s1', undefined, 'agent')}`,
      'violation',
    ],
    ['objects that contradict each other', `${plan('v1.36.1+k3s1')}---\n${upgrade('v1.33.0')}`, 'warning'],
    [
      'a cluster of Cluster API',
      named('cluster.x-k8s.io/v1beta1 Cluster', '{topology: {class: a, version: v1.36.0}}'),
      'violation',
    ],
    [
      'one of another name',
      named('cluster.x-k8s.io/v1beta1 Cluster', '{topology: {class: a, version: v1.36.0}}', 'other'),
      'warning',
    ],
    [
      'its control plane',
      named('controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane', '{version: v1.36.0}'),
      'violation',
    ],
    [
      'EKS, by the name in AWS',
      named('eks.services.k8s.aws/v1alpha1 Cluster', '{name: staging, version: "1.36"}', 'x'),
      'violation',
    ],
    [
      'GKE',
      named('container.cnrm.cloud.google.com/v1beta1 ContainerCluster', '{minMasterVersion: 1.36.1-gke.100}'),
      'violation',
    ],
    [
      'AKS',
      named('containerservice.azure.com/v1api20240901 ManagedCluster', '{kubernetesVersion: 1.36.1}'),
      'violation',
    ],
  ])('%s', (_what, objects, level) => {
    expect(levels(withPlatform(objects))).toEqual([level])
  })

  test('a version that is not in the table', () => {
    expect(levels(withPlatform(upgrade('v1.29.0'), CONFIG_MAP('  port: 8080\n')))).toEqual(['warning'])
  })

  test('what every version of the table refuses', () => {
    expect(levels(given(CONFIG_MAP('  port: 8080\n')))).toEqual(['violation'])
  })

  test('a kind that the cluster serves is none of a version that it does not run yet', () => {
    const old = 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: x, namespace: apps}\n'
    expect(levels(withPlatform(plan('v1.24.1+k3s1'), old))).toEqual([])
    expect(levels(withPlatform(plan('v1.25.1+k3s1'), old))).toEqual(['warning'])
    expect(levels(withPlatform(plan('v1.34.1+k3s1'), old))).toEqual(['violation'])
  })

  test('a tenant cannot say it, and a declaration counts first', () => {
    expect(levels(given(`${BAD}---\n${upgrade('v1.36.0')}`))).toEqual(['warning'])
    const given2 = withPlatform(upgrade('v1.33.0'), POD)
    expect(levels(given2)).toEqual(['violation'])
    expect(levels({ ...given2, fleet: { ...given2.fleet, [DECLARED]: EVERY } })).toEqual([])
  })

  test('a declaration for another cluster leaves the newest version assumed, which is said', () => {
    const old = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x, namespace: apps}\n'
    const { violations } = evaluationOf(given(old, 'kubernetes: [{version: "1.36", cluster: other}]\n')).verdict
    expect(ofTenant(violations).map(({ message }) => message)).toEqual([
      expect.stringContaining('Kubernetes 1.37 (assumed) does not serve this apiVersion'),
    ])
  })

  test('an API version is said to be deprecated before it is removed, and refused after that', () => {
    const claim = `apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: x, namespace: apps}\nspec: {}\n`
    const [warning, ...others] = ofTenant(evaluationOf(given(claim, EVERY)).verdict.warnings)
    expect(others).toEqual([])
    expect(warning).toMatchObject({
      message:
        'ResourceClaim apps/x: Kubernetes 1.35 deprecates this apiVersion, and 1.37 is the last version that serves it. Allowed: resource.k8s.io/v1, resource.k8s.io/v1beta2.',
      fix: 'Set apiVersion to resource.k8s.io/v1.',
      origin: { line: 1 },
    })
    expect(ofTenant(evaluationOf(given(claim, 'kubernetes: [{version: "1.34"}]\n')).verdict.warnings)).toEqual([])
    const request = `apiVersion: certificates.k8s.io/v1beta1\nkind: PodCertificateRequest\nmetadata: {name: x, namespace: apps}\n`
    const deprecations = (config?: string, object = request) =>
      evaluationOf(given(object, config)).verdict.warnings.filter(({ message }) => message.includes('deprecates'))
    expect(deprecations('kubernetes: [{version: "1.37"}]\n')).toHaveLength(1)
    // its replacement is too young for a cluster of which nothing is known
    expect(deprecations()).toEqual([])
    expect(deprecations(undefined, claim)).toHaveLength(1)
    const old = claim.replace('v1beta1', 'v1alpha3')
    expect(found(old, EVERY)).toHaveLength(1)
    expect(found(old, 'kubernetes: [{version: "1.33"}]\n')).toEqual([])
  })
})

test('the entry of a cluster counts before the one of all', () => {
  const pod = `apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: apps}\nspec:\n  containers: [{name: a, image: b, restartPolicyRules: [{action: Restart}]}]\n`
  const both = (own: string) => `kubernetes: [{version: "1.36"}, {version: "${own}", cluster: staging}]\n`
  expect(found(pod, both('1.34'))).toEqual([])
  const [violation] = found(pod, both('1.33'))
  expect(JSON.stringify(violation?.message)).toContain('is the first to have it')
})

test('a version without quotes is read, one that is not known is refused', () => {
  expect(found(CONFIG_MAP('  port: 8080\n'), 'kubernetes: [{version: 1.36}]\n')).toHaveLength(1)
  for (const version of ['1.3', '"1.99"', '36', 'v1.36', '[1.36]']) {
    const { verdict } = evaluationOf(given(CONFIG_MAP('  port: 8080\n'), `kubernetes: [{version: ${version}}]\n`))
    expect(
      verdict.errors.map(({ code }) => code),
      version,
    ).toContain('config')
  }
})

test('values never stand in the message: they may be secret', () => {
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: apps}\ndata: {token: hunter2hunter2!}\nstringData: {pin: 123456789}\n`
  const text = JSON.stringify(found(secret, EVERY))
  expect(text).toContain('schema-mismatch')
  expect(text).not.toContain('hunter2')
  expect(text).not.toContain('123456789')
})

test('a field that Flux drops is a warning with the name that was meant', () => {
  const service =
    'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: apps}\nspec:\n  ports: [{port: 80}]\n  selectors: {app: web}\n'
  const { violations, warnings } = evaluationOf(given(service, EVERY)).verdict
  expect(ofTenant(violations)).toEqual([])
  const [warning] = ofTenant(warnings)
  expect(warning).toMatchObject({
    origin: { file: 'deploy/extra.yaml', line: 6 },
    fix: 'Rename it to selector, or remove it.',
  })
})

test('of many names that are allowed the rest is counted', () => {
  const text = (zone: string) => {
    const pod = `apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: apps}\nspec:\n  replicas: ${zone}\n  hostNetwork: "no"\n  containers: [{name: a, image: b}]\n`
    return found(pod, EVERY).map(({ message }) => message)
  }
  expect(text('1').find(one => one.includes('replicas'))).toMatch(/ Allowed: (?:\w+, ){11}\w+ and \d+ more\.$/)
})

describe('custom kinds', () => {
  const CERTIFICATE =
    'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web, namespace: apps}\nspec: {secretNames: web, issuerRef: {name: a}}\n'
  const GIVEN = `${WIDGET.replace('name: w,', 'name: w, namespace: apps,').replace('size: 3', 'size: 11')}`

  test('what the CustomResourceDefinition of the platform refuses is a violation, with no version declared', () => {
    const platform = {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, widgets.yaml]\n',
      'tenants/widgets.yaml': WIDGETS,
    }
    const fleet = miniFleet({ dev: withResource(GIVEN), fleet: platform })
    const [violation, ...others] = ofTenant(evaluationOf(fleet).verdict.violations)
    expect(others).toEqual([])
    expect(violation).toMatchObject({ origin: { file: 'deploy/extra.yaml', line: 5 } })
    expect(JSON.stringify(violation?.message)).toContain('a number of at most 10')
  })

  test('a definition of a tenant defines nothing', () => {
    const fleet = miniFleet({ dev: withResource(`${GIVEN}---\n${WIDGETS}`) })
    const { violations, warnings } = evaluationOf(fleet).verdict
    expect(ofTenant([...violations, ...warnings])).toEqual([])
  })

  test('what only the catalog refuses is a warning with the name that was meant', () => {
    const { violations, warnings } = evaluationOf(given(CERTIFICATE)).verdict
    expect(ofTenant(violations)).toEqual([])
    expect(ofTenant(warnings).map(({ fix }) => fix)).toContain('Rename it to secretName, or remove it.')
    const newer = CERTIFICATE.replace('secretNames: web', 'secretName: web, ofALaterRelease: x')
    expect(newer).not.toBe(CERTIFICATE)
    expect(ofTenant(evaluationOf(given(newer)).verdict.warnings)).toEqual([])
    const another = [CERTIFICATE.replace('Names', 'Name'), CERTIFICATE.replace('io/v1', 'io/v1alpha2')]
    for (const text of another) expect(ofTenant(evaluationOf(given(text)).verdict.warnings), text).toEqual([])
  })
})

describe('updates that the API server refuses', () => {
  const job = (image: string, more = '') =>
    `apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: apps${more}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: ${image}}]}}}\n`
  const changed = (before: string, after: string, config?: string) => {
    const { violations, warnings } = evaluationOf(given(after, config), { base: given(before, config) }).verdict
    return [...ofTenant(violations), ...ofTenant(warnings)].map(({ level, field }) => `${level} ${field}`)
  }
  const FIELD = '/spec/template/spec/containers/0/image'

  test('a new image of a Job is a violation where a version is declared, else a warning', () => {
    expect(changed(job('a:1'), job('a:2'), EVERY)).toEqual([`violation ${FIELD}`])
    expect(changed(job('a:1'), job('a:2'))).toEqual([`warning ${FIELD}`])
  })

  test('the same Job, one that Flux makes anew and one with another name are none', () => {
    const forced = ', annotations: {kustomize.toolkit.fluxcd.io/force: enabled}'
    expect(changed(job('a:1'), job('a:1', ', labels: {a: b}'), EVERY)).toEqual([])
    expect(changed(job('a:1', forced), job('a:2', forced), EVERY)).toEqual([])
    expect(changed(job('a:1'), job('a:2').replace('once', 'twice'), EVERY)).toEqual([])
  })
})

describe('rules of a definition that the fleet renders', () => {
  const RULES = WIDGETS.replace(
    'parts:\n',
    "limit: {type: integer, x-kubernetes-validations: [{rule: 'self >= oldSelf', message: it may not shrink}]}\n                parts:\n",
  ).replace(
    'properties: {name: {type: string}, zone: {type: string, default: a}}',
    'properties: {name: {type: string}, zone: {type: string, default: a}}\n                    x-kubernetes-validations: [{rule: "self.name != self.zone", message: a part is not its zone}]',
  )
  const widget = (spec: string) =>
    `apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\n  namespace: apps\nspec:\n  size: 3\n${spec}`
  const fleetWith = (spec: string) =>
    miniFleet({
      dev: withResource(widget(`${spec}  source: {git: x}\n`)),
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, widgets.yaml]\n',
        'tenants/widgets.yaml': RULES,
      },
    })

  test('a violation at the item, in the words of the rule', () => {
    const { violations } = evaluationOf(fleetWith('  parts:\n    - name: b\n    - name: a\n')).verdict
    expect(ofTenant(violations)).toMatchObject([{ origin: { file: 'deploy/extra.yaml', line: 10 } }])
    expect(JSON.stringify(ofTenant(violations)[0]?.message)).toContain('a part is not its zone')
    const fine = evaluationOf(fleetWith('  parts:\n    - name: b\n    - name: c\n')).verdict
    expect(ofTenant(fine.violations)).toEqual([])
  })

  test('what an update may not do is found by the base', () => {
    const given = (limit: number) => fleetWith(`  limit: ${limit}\n`)
    const found = (now: number, then: number) =>
      ofTenant(evaluationOf(given(now), { base: given(then) }).verdict.violations)
    expect(found(1, 2)).toMatchObject([{ origin: { file: 'deploy/extra.yaml', line: 8 }, state: 'new' }])
    expect(found(2, 1)).toEqual([])
    expect(ofTenant(evaluationOf(given(1)).verdict.violations)).toEqual([])
  })

  test('of the catalog a warning', () => {
    const bucket = (more: string) =>
      `apiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: b, namespace: apps}\nspec: {interval: 5m, endpoint: minio.example.com, bucketName: apps, provider: ${more}}\n`
    const { warnings, violations } = evaluationOf(
      given(bucket('aws, sts: {provider: ldap, endpoint: "https://sts.example.com"}')),
    ).verdict
    expect(ofTenant(violations)).toEqual([])
    expect(JSON.stringify(ofTenant(warnings)[0]?.message)).toContain("'aws' is the only supported STS provider")
    expect(
      ofTenant(
        evaluationOf(given(bucket('aws, sts: {provider: aws, endpoint: "https://sts.example.com"}'))).verdict.warnings,
      ),
    ).toEqual([])
  })
})
