import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import type { Json } from '../../../src/kube/node.ts'
import { freePorts } from '../../../tools/envtest/ports.ts'
import { startProgram } from '../../../tools/envtest/program.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { configurationOf, groupsOf, homeObjects, type World } from './world.ts'

type Plain = { [key: string]: Json }
const NAMESPACE = 'capsule-system'
const ACCOUNT = 'capsule'

/** A real API server that asks a real Capsule. */
interface CapsuleServer extends Pick<TestCluster, 'request'> {
  /** Makes an object, as a user where one is named. */
  make(object: Plain, user?: string): Promise<void>
  /** Until every Tenant counts its namespaces, and the cordoned ones are. */
  settled(): Promise<void>
  /** Roles and bindings that Capsule made, without what only a cluster adds. */
  rbac(): Promise<Plain[]>
  stop(): Promise<void>
}

/** Starts the program with the objects of its chart; it listens on every address, so the caller gives it a network of its own. */
export async function startCapsule(
  world: World,
  {
    program,
    manifests,
    minor,
  }: { readonly program: string; readonly manifests: readonly string[]; readonly minor: number },
): Promise<CapsuleServer> {
  const cluster = await startCluster({ workerRbac: false })
  const stops: (() => Promise<void>)[] = [() => cluster.stop()]
  const stop = async () => {
    for (const one of stops.toReversed()) await one()
  }
  const make = async (object: Plain, user?: string) => {
    const options = user === undefined ? {} : { impersonate: user, groups: groupsOf(user) }
    const { status, body } = await cluster.request('POST', collectionOf(object), object, options)
    if (status !== 201) throw new Error(`${nameOf(object)}: ${status} ${JSON.stringify(body)}`)
  }
  try {
    const certificate = certificateIn(join(dirname(cluster.adminKubeconfig), 'webhook'))
    const [port] = await freePorts(1)
    const objects = manifests.flatMap(file =>
      parseAllDocuments(readFileSync(file, 'utf8')).flatMap((one): Plain[] => one.toJS() ?? []),
    )
    const client = { url: `https://127.0.0.1:${port}`, caBundle: certificate.ca }
    const [definitions, others] = [objects.filter(isDefinition), objects.filter(one => !isDefinition(one))]
    for (const one of definitions) await make(withoutConversion(one))
    for (const one of definitions) await served(cluster, nameOf(one))
    await make({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
    await make(everything())
    for (const one of others.filter(isConfiguration)) await make(configured(one, world, client))
    for (const one of world.platform) await make(one)
    const flags = [`--webhook-port=${port}`, '--metrics-addr=0', '--zap-log-level=4', '--configuration-name=default']
    if (minor >= 13) flags.push(`--webhook-cert-path=${certificate.served}`)
    const log = join(dirname(cluster.adminKubeconfig), 'capsule.log')
    const env = {
      ...process.env,
      // one call reads the kubeconfig of the home
      HOME: certificate.folder,
      KUBECONFIG: ownKubeconfig(cluster.adminKubeconfig, certificate.folder),
      NAMESPACE,
      SERVICE_ACCOUNT: ACCOUNT,
      // before 0.13 it looks for the certificate below the folder for temporary files
      TMPDIR: certificate.folder,
    }
    const started = startProgram(program, flags, log, '', env)
    stops.push(() => started.stop(3000))
    for (const one of others.filter(isWebhooks)) await make(withClient(one, client))
    for (const kind of ['mutating', 'validating'])
      await until(`Capsule has ${kind} webhooks`, () => hasAny(cluster, kind))
    for (const tenant of Object.keys(world.tenants)) {
      for (const one of homeObjects(world, tenant)) await untilMade(() => make(uncordoned(one)), started.ended)
    }
    return {
      request: cluster.request,
      make: (object, user) => untilMade(() => make(object, user), started.ended),
      settled: () => settled(cluster, world),
      rbac: () => rbacOf(cluster),
      stop,
    }
  } catch (error) {
    try {
      console.error(readFileSync(join(dirname(cluster.adminKubeconfig), 'capsule.log'), 'utf8').slice(-6000))
    } catch {}
    await stop()
    throw error
  }
}

const nameOf = (object: Plain) => (object as { metadata: { name: string } }).metadata.name
const isDefinition = ({ kind }: Plain) => kind === 'CustomResourceDefinition'
const isConfiguration = ({ kind }: Plain) => kind === 'CapsuleConfiguration'
const isWebhooks = ({ kind }: Plain) => /^(Mutating|Validating)WebhookConfiguration$/.test(String(kind))

/** Path of the objects of a kind, in the namespace of one of them. */
export function collectionOf(object: Plain): string {
  const { apiVersion, kind, metadata } = object as {
    apiVersion: string
    kind: string
    metadata: { namespace?: string }
  }
  const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  const plural = `${kind.toLowerCase()}${/s$/.test(kind) ? 'es' : 's'}`
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}${inside}/${plural}`
}

/** Who asks may do everything, so that only Capsule refuses. */
const everything = (): Plain => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'everything' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts' }],
})

/** One version of each kind is asked for, so nothing is converted. */
function withoutConversion(definition: Plain): Plain {
  const { conversion: _, ...spec } = definition.spec as Plain
  return { ...definition, spec }
}

type Client = { readonly url: string; readonly caBundle: string }

/** From 0.14 on Capsule makes its webhooks of its configuration. */
function configured(object: Plain, world: World, client: Client): Plain {
  const { admission, ...rest } = object.spec as { admission?: Record<string, Plain> } & Plain
  const own = Object.entries(admission ?? {}).map(([key, one]) => [
    key,
    typeof one === 'object' ? { ...one, client } : one,
  ])
  const spec = {
    ...rest,
    ...(admission ? { admission: Object.fromEntries(own) } : {}),
    ...(configurationOf(world).spec as Plain),
  }
  const { name } = object.metadata as { name: string }
  return { ...object, metadata: { name }, spec }
}

function withClient(object: Plain, { url, caBundle }: Client): Plain {
  const webhooks = (object.webhooks as Plain[]).map(one => {
    const path = new URL((one.clientConfig as { url: string }).url).pathname
    return { ...one, clientConfig: { url: `${url}${path}`, caBundle } }
  })
  return { ...object, metadata: { name: nameOf(object) }, webhooks }
}

/** A Tenant that is cordoned would get no namespace. */
function uncordoned(object: Plain): Plain {
  if (object.kind !== 'Tenant') return object
  return { ...object, spec: { ...(object.spec as Plain), cordoned: false } }
}

function certificateIn(directory: string): { folder: string; served: string; ca: string } {
  const folder = join(directory, 'k8s-webhook-server', 'serving-certs')
  mkdirSync(folder, { recursive: true })
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files], {
    stdio: 'ignore',
  })
  return { folder: directory, served: folder, ca: readFileSync(join(folder, 'tls.crt')).toString('base64') }
}

/** The kubeconfig of a home, by which the program acts as its own account: its webhooks let that do more. */
function ownKubeconfig(admin: string, home: string): string {
  const config = parse(readFileSync(admin, 'utf8'))
  const name = `system:serviceaccount:${NAMESPACE}:${ACCOUNT}`
  for (const { user } of config.users) Object.assign(user, { as: name, 'as-groups': groupsOf(name) })
  const path = join(home, '.kube', 'config')
  mkdirSync(dirname(path))
  writeFileSync(path, JSON.stringify(config))
  return path
}

async function served(cluster: TestCluster, name: string): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
  await until(`${name} is served`, async () => {
    const { body } = await cluster.request('GET', path)
    const { conditions } = (body as { status?: { conditions?: { type: string; status: string }[] } }).status ?? {}
    return conditions?.some(one => one.type === 'Established' && one.status === 'True') === true
  })
}

/** The webhooks of a program that starts do not answer yet. */
async function untilMade(make: () => Promise<void>, ended: () => boolean): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await make()
    } catch (error) {
      if (ended() || attempt === 240 || !/failed calling webhook|connection refused/.test(String(error))) throw error
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (await isSo()) return
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  throw new Error(`after a minute it is not so that ${what}`)
}

async function hasAny(cluster: TestCluster, kind: string): Promise<boolean> {
  const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`
  return ((await cluster.request('GET', path)).body as { items: Json[] }).items.length > 0
}

const TENANTS = '/apis/capsule.clastix.io/v1beta2/tenants'

async function settled(cluster: TestCluster, world: World): Promise<void> {
  for (const [name, { spec, objects }] of Object.entries(world.tenants)) {
    const own = objects.filter(({ kind }) => kind === 'Namespace').map(nameOf)
    await until(`Tenant ${name} has ${own.join(' and ')}`, async () => {
      const { body } = await cluster.request('GET', `${TENANTS}/${name}`)
      const { namespaces = [] } = (body as { status?: { namespaces?: string[] } }).status ?? {}
      return own.every(one => namespaces.includes(one))
    })
    if (spec.cordoned !== true) continue
    const type = { contentType: 'application/merge-patch+json' }
    await cluster.request('PATCH', `${TENANTS}/${name}`, { spec: { cordoned: true } }, type)
    // Capsule labels the namespaces after the Tenant
    await new Promise(resolve => setTimeout(resolve, 3000))
  }
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

async function rbacOf(cluster: TestCluster): Promise<Plain[]> {
  const made: Plain[] = []
  for (const kind of ['ClusterRole', 'ClusterRoleBinding', 'RoleBinding']) {
    const { body } = await cluster.request('GET', `${RBAC}/${kind.toLowerCase()}s`)
    for (const { metadata, rules, roleRef, subjects } of (body as { items: Plain[] }).items) {
      const { name, namespace, labels } = metadata as { name: string; namespace?: string; labels?: Plain }
      if (!/capsule/.test(name) && !JSON.stringify(labels ?? {}).includes('capsule')) continue
      const parts = { ...(rules ? { rules } : {}), ...(roleRef ? { roleRef, subjects: subjects ?? [] } : {}) }
      made.push({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind,
        metadata: { name, ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}) },
        ...parts,
      })
    }
  }
  return made
}
