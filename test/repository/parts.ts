/**
 * Which part may import which (docs/architecture.md). A part is a folder of src, one of the files at its top, or `workers`.
 * `git/tree` is the one interface that the core sees of git.
 */
const meaning = ['base', 'git/tree', 'kube']
const engine = [...meaning, 'expr', 'kustomize', 'flux', 'fleet']
const evaluation = [...engine, 'schema', 'admission', 'rules', 'verdict']
/** The sets of parts that docs/architecture.md names. */
export const GROUPS: Record<string, readonly string[]> = { meaning, engine, evaluation }
export const MAY_IMPORT: Record<string, readonly string[]> = {
  // `package.json`: the version.
  base: ['package.json'],
  git: ['base'],
  kube: ['base', 'git/tree'],
  // CEL, JMESPath, Go's regular expressions.
  expr: meaning,
  kustomize: [...meaning, 'expr'],
  flux: [...meaning, 'expr', 'kustomize'],
  // What Kubernetes accepts in objects.
  schema: [...meaning, 'expr', 'kustomize'],
  fleet: engine,
  // Policies of the platform, as the API server asks them.
  admission: engine,
  rules: [...engine, 'schema', 'admission'],
  verdict: evaluation,
  // Onboarding, offboarding, adoption, credentials.
  tenants: evaluation,
  report: [...evaluation, 'tenants'],
  // The environment, signals, Redis: what every process does first.
  process: ['base'],
  // The only code that calls GitHub.
  github: [...evaluation, 'report', 'git', 'process'],
  // The only code that calls clusters, registries and key services; what the worker of a cluster and the web process say to each other.
  cluster: [...evaluation, 'report', 'git'],
  config: ['base', 'process', 'github', 'cluster'],
  // Webhooks, jobs, what waits to be written to a trail, metrics.
  receive: ['base', 'process', 'verdict'],
  // Pages, sign-in, commands, the command line, doctor, setup.
  surface: [...evaluation, 'tenants', 'report', 'git', 'process', 'config', 'github', 'cluster', 'receive'],
  'start-site': ['base', 'process', 'config', 'github', 'cluster', 'receive', 'surface'],
  index: ['process', 'config', 'github', 'surface', 'start-site'],
  workers: [...evaluation, 'tenants', 'report', 'git', 'process', 'config', 'github', 'cluster', 'receive', 'surface'],
}
/** The web process starts the workers in itself when there is no Redis; only by `await import()`. */
export const DYNAMIC = [{ from: 'start-site', to: 'workers' }]
/** What does no input or output. */
export const PURE = [
  'src/base',
  'src/git/tree.ts',
  'src/kube',
  'src/expr',
  'src/kustomize',
  'src/flux',
  'src/schema',
  'src/fleet',
  'src/admission',
  'src/rules',
  'src/verdict',
  'src/tenants',
  'src/report',
  'src/github/designate.ts',
  'src/surface/command',
]
/** Packages that a pure part may use. Nobody else sees Probot, BullMQ or a Kubernetes client. */
export const PACKAGES: Record<string, readonly string[]> = {
  // Its tables are packed.
  'src/schema': ['node:zlib'],
  'src/expr/regexp': ['re2js'],
  'src/kustomize': ['yaml'],
  'src/tenants': ['yaml'],
  'src/surface/command': ['yaml'],
  'src/flux/sops': ['age-encryption', 'openpgp', 'yaml'],
}
