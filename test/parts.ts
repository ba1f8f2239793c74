/**
 * Which part may import which (docs/architecture.md). A part is a folder of src, one of the files at its top, or `workers`.
 * `git/tree` is the one interface that the core sees of git; `flux/kinds` is a table that imports nothing.
 */
const meaning = ['origin', 'errors', 'message', 'git/tree', 'flux/kinds', 'kube']
const engine = [...meaning, 'kustomize', 'flux', 'fleet']
/** What Kubernetes accepts in objects of its own kinds. */
const schema = 'schema'
const evaluation = [
  ...engine,
  'facts',
  'policy',
  'rules',
  'approval',
  'evaluate',
  'audit',
  'access',
  'gate',
  'protection',
]
export const core = [
  ...evaluation,
  'credentials',
  'cel',
  'kstatus',
  schema,
  'diff',
  'fix',
  'report',
  'onboard',
  'offboard',
  'adopt',
  'command',
  'trail',
]
export const MAY_IMPORT: Record<string, readonly string[]> = {
  origin: [],
  errors: ['origin', 'message'],
  'flux/kinds': [],
  kube: ['origin', 'errors', 'message', 'git/tree', 'flux/kinds'],
  // How far a cluster has come with an object: plain JSON in, a status out.
  kstatus: ['kube', 'cel'],
  cel: [...meaning, 'kustomize'],
  kustomize: meaning,
  flux: [...meaning, 'kustomize', 'cel'],
  fleet: [...meaning, 'kustomize', 'flux'],
  facts: engine,
  policy: [...engine, 'facts', 'cel'],
  [schema]: [...meaning, 'kustomize', 'cel'],
  // What SOPS itself would make of a file in git.
  rules: [...engine, 'facts', 'policy', schema, 'sops'],
  approval: [...engine, 'facts', 'rules'],
  evaluate: [...engine, 'facts', 'rules', 'approval'],
  audit: [...engine, 'facts', 'policy', 'rules', 'evaluate'],
  access: [...engine, 'facts', 'audit'],
  gate: [...engine, 'facts', 'rules', 'audit'],
  protection: ['gate', 'message'],
  // Who reads which source with what: of the fleet's own repository.
  credentials: [...engine, 'rules', 'onboard'],
  message: [],
  // What was decided, as a chain of lines: nothing of a fleet is read here.
  trail: ['errors'],
  diff: [...engine, 'facts', 'rules', 'evaluate'],
  fix: [...meaning, 'rules'],
  report: [...evaluation, 'diff', 'fix'],
  onboard: engine,
  offboard: [...engine, 'onboard'],
  // Accounts with the least rights, for what runs as cluster-admin.
  adopt: [...engine, 'facts', 'rules', 'fix', 'onboard'],
  command: [...evaluation, 'diff', 'fix', 'report', 'onboard', 'adopt'],
  // Who is a fleet: decided from facts, before anything is evaluated.
  designation: ['errors', 'kube'],
  // Patterns of `.sops.yaml` are Go's, as those of kustomize.
  sops: ['origin', 'errors', 'git/tree', 'kube', 'kustomize'],
  git: ['origin', 'errors', 'kube'],
  process: ['errors'],
  // Artifacts of registries: the only code that calls one.
  oci: ['errors', 'git', 'fleet'],
  config: ['errors', 'process', 'designation', 'oci'],
  queue: ['errors', 'process'],
  // What the web process and the worker of a cluster say to each other.
  channel: ['errors', 'fleet', 'report'],
  github: [...core, 'git', 'process'],
  cluster: core,
  // Keys of services: the only code that calls one.
  kms: ['errors', 'kube'],
  metrics: ['queue'],
  // What waits to be written to a trail.
  outbox: ['errors', 'process', 'trail'],
  // What pages show is written by src/report, and kept by src/pages.
  pages: ['errors', 'process', 'channel', ...core],
  // Who can see a repository is a word of src/fleet.
  web: ['errors', 'process', 'channel', 'queue', 'pages', 'report', 'message', 'fleet'],
  // The command line is a program of its own: it opens its own working copies.
  cli: [...core, 'sops', 'git', 'package.json'],
  webhooks: ['errors', 'process', 'queue'],
  // Asks what an installation leads to: its settings, GitHub, Redis, the clusters file.
  doctor: ['errors', 'message', 'process', 'config', 'github', 'kube', 'flux', 'access', 'cluster'],
  // Registers the App once, on somebody's own machine.
  setup: ['errors', 'message', 'process', 'config', 'github'],
  'site-pages': ['errors', 'process', 'config', 'github', 'pages', 'web'],
  // Which worker of a cluster may ask for what.
  'site-workers': ['errors', 'process', 'config', 'channel', 'cluster', 'github', 'pages', 'queue', 'web'],
  'start-site': [
    'errors',
    'process',
    'config',
    'queue',
    'webhooks',
    'web',
    'pages',
    'metrics',
    'site-pages',
    'site-workers',
  ],
  index: ['process', 'config', 'doctor', 'github', 'start-site'],
  workers: [
    ...core,
    'designation',
    'channel',
    'sops',
    'process',
    'config',
    'git',
    'github',
    'oci',
    'cluster',
    'kms',
    'queue',
    'web',
    'pages',
    'outbox',
    'metrics',
    'doctor',
  ],
}
/** The web process starts the workers in itself when there is no Redis; only by `await import()`. The command line asks GitHub in one command. */
export const DYNAMIC = [
  { from: 'start-site', to: 'workers' },
  { from: 'cli', to: 'doctor' },
]
export const PURE = [...core.filter(part => part !== 'git/tree' && part !== 'flux/kinds'), 'designation', 'sops']
/** Packages that a part may use; Node's own modules aside. Nobody else sees Probot, BullMQ or a Kubernetes client. */
export const PACKAGES: Record<string, readonly string[]> = {
  // Its tables are packed.
  [schema]: ['node:zlib'],
  kustomize: ['yaml'],
  onboard: ['yaml'],
  offboard: ['yaml'],
  command: ['yaml'],
  // Loaded by one command alone.
  cli: [
    '@modelcontextprotocol/sdk/server/index.js',
    '@modelcontextprotocol/sdk/shared/stdio.js',
    '@modelcontextprotocol/sdk/shared/transport.js',
    '@modelcontextprotocol/sdk/types.js',
  ],
  doctor: ['yaml'],
  sops: ['age-encryption', 'openpgp', 'yaml'],
}
