import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { FleetIndex } from '../src/fleet/facts/fleet-index.ts'
import { buildFleet } from '../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../src/fleet/model/fleet.ts'
import { Subject } from '../src/rules/model/rule.ts'
import { admissionOf } from '../src/rules/policies/admission.ts'
import { inputOf } from '../test/fleet/fleet-of.ts'
import { miniFleet } from '../test/fleet/mini-fleet.ts'
import { record } from './figures.ts'

// How long policies take: `npm run bench:policy`. Objects and rules as in kyverno/kyverno#12967 (3,002 x 4), and 5,000 x 65, half of them
// Kyverno's and half ValidatingAdmissionPolicies. The Kyverno command line answers the same in the same run, where KYVERNO or
// ~/.cache/bailiwick/bin/kyverno is it: rules of Kyverno only. Each object is asked as it would be created; rendering is not counted.
const SIZES = [
  { objects: 3_002, rules: 4, promised: 1 },
  { objects: 5_000, rules: 65, promised: 3 },
]
const ROUNDS = 3

const deployment = (at: number) => `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-${at}
  namespace: apps
  labels: {app: web-${at}, team: dev, tier: "${at % 7}"}
spec:
  replicas: ${1 + (at % 5)}
  selector: {matchLabels: {app: web-${at}}}
  template:
    metadata: {labels: {app: web-${at}, team: dev}}
    spec:
      securityContext: {runAsNonRoot: true}
      containers:
        - name: web
          image: ghcr.io/acme/web:1.${at % 30}
          resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          ports: [{containerPort: 8080}]
`
const configMap = (at: number) =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-${at}, namespace: apps, labels: {team: dev}}\ndata: {level: low, region: "r${at % 9}"}\n`

const PATTERNS = [
  ['Pod', '{spec: {containers: [{image: "!*:latest"}]}}'],
  ['Pod', '{spec: {containers: [{resources: {requests: {memory: "?*"}}}]}}'],
  ['Deployment', '{spec: {replicas: "<10"}}'],
  ['ConfigMap', '{metadata: {labels: {team: "?*"}}}'],
  ['Pod', '{spec: {containers: [{"=(securityContext)": {"=(privileged)": "false"}}]}}'],
  ['Deployment', '{metadata: {labels: {tier: "?*"}}}'],
]
const EXPRESSIONS = [
  ['apps', 'deployments', 'object.spec.replicas < 10'],
  ['apps', 'deployments', "object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))"],
  ['', 'configmaps', "!has(object.data) || !('password' in object.data)"],
  ['apps', 'deployments', "has(object.metadata.labels) && 'team' in object.metadata.labels"],
]

const kyvernoPolicy = (at: number) => {
  const [kind, pattern] = PATTERNS[at % PATTERNS.length]!
  return `---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: policy-${at}}\nspec:\n  validationFailureAction: Enforce\n  rules:\n    - name: rule\n      match: {any: [{resources: {kinds: [${kind}]}}]}\n      validate: {message: no, pattern: ${pattern}}\n`
}

const nativePolicy = (at: number) => {
  const [group, resource, expression] = EXPRESSIONS[at % EXPRESSIONS.length]!
  const api = 'apiVersion: admissionregistration.k8s.io/v1'
  return `---\n${api}\nkind: ValidatingAdmissionPolicy\nmetadata: {name: native-${at}}\nspec:\n  matchConstraints:\n    resourceRules: [{apiGroups: ["${group}"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [${resource}]}]\n  validations: [{expression: ${JSON.stringify(expression)}}]\n---\n${api}\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: native-${at}}\nspec: {policyName: native-${at}, validationActions: [Deny]}\n`
}

function textsOf(objects: number, rules: number) {
  const native = Math.floor(rules / 2)
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
  return {
    objects: numbers(objects).map(at => (at % 2 === 0 ? deployment(at) : configMap(at))),
    kyverno: numbers(rules - native).map(kyvernoPolicy),
    native: numbers(native).map(nativePolicy),
  }
}

function fleetWith({ objects, kyverno, native }: ReturnType<typeof textsOf>): Fleet {
  // a file is not as long as one may be
  const files = Array.from({ length: Math.ceil(objects.length / 500) }, (_, at) => `part-${at}.yaml`)
  const given = miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': [...kyverno, ...native].join(''),
    },
    dev: {
      'deploy/kustomization.yaml': `resources: [${files.join(', ')}]\n`,
      ...Object.fromEntries(
        files.map((file, at) => [`deploy/${file}`, objects.slice(at * 500, at * 500 + 500).join('')]),
      ),
    },
  })
  return buildFleet(inputOf(given))
}

/** Every object of the fleet, asked of every policy; how many objects, refusals and what was not evaluated. */
function ask(fleet: Fleet) {
  const context = { index: new FleetIndex(fleet), config: fleet.config }
  const sum = { objects: 0, refused: 0, unclear: 0 }
  for (const node of fleet.nodes) {
    for (const object of node.objects) {
      const answer = admissionOf(new Subject({ node, object }), context)
      sum.objects++
      sum.refused += answer?.findings.length ?? 0
      sum.unclear += answer?.notEvaluated.length ?? 0
    }
  }
  return sum
}

function kyvernoSeconds({ objects, kyverno }: ReturnType<typeof textsOf>): string {
  const program = process.env.KYVERNO ?? join(homedir(), '.cache/bailiwick/bin/kyverno')
  if (!existsSync(program)) return 'kyverno: not built here'
  const dir = mkdtempSync(join(tmpdir(), 'bench-policy-'))
  try {
    writeFileSync(join(dir, 'policies.yaml'), kyverno.join(''))
    writeFileSync(join(dir, 'objects.yaml'), objects.join(''))
    const started = performance.now()
    const args = ['apply', join(dir, 'policies.yaml'), '--resource', join(dir, 'objects.yaml')]
    try {
      execFileSync(program, args, { stdio: 'ignore', timeout: 900_000 })
    } catch (error) {
      const { status } = error as { readonly status: number | null }
      if (status === null) return 'kyverno: more than 900 s'
    }
    return `kyverno (${kyverno.length} rules of Kyverno) ${((performance.now() - started) / 1000).toFixed(2)} s`
  } finally {
    rmSync(dir, { recursive: true })
  }
}

for (const { objects, rules, promised } of SIZES) {
  const texts = textsOf(objects, rules)
  const times: string[] = []
  const cpuTimes: number[] = []
  let sum = { objects: 0, refused: 0, unclear: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    // built anew: nothing is kept from the round before
    const fleet = fleetWith(texts)
    const [started, cpu] = [performance.now(), process.cpuUsage()]
    sum = ask(fleet)
    const { user, system } = process.cpuUsage(cpu)
    cpuTimes.push((user + system) / 1000)
    times.push(`${((performance.now() - started) / 1000).toFixed(2)} s (CPU ${((user + system) / 1e6).toFixed(2)} s)`)
  }
  const cpu = Math.min(...cpuTimes)
  record({ name: `${sum.objects} objects x ${rules} rules`, cpu, ratio: cpu / (promised * 1000), to: 'promised' })
  console.log(`${sum.objects} objects x ${rules} rules: ${times.join(', ')}; promised ${promised} s`)
  console.log(`  refused ${sum.refused}, not evaluated ${sum.unclear}; ${kyvernoSeconds(texts)}`)
}
