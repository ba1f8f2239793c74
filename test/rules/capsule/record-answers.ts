import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Json } from '../../../src/kube/node.ts'
import { collectionOf, startCapsule } from './capsule-server.ts'
import { accountName, groupsOf, type Question, questions, readWorld, tenantObjects } from './world.ts'

/** What Capsule answered: its words where it refuses, and the Tenant that it gave a Namespace to. */
interface Answer {
  readonly refused?: string
  readonly tenant?: string
}

const { values } = parseArgs({
  options: { version: { type: 'string' }, program: { type: 'string' }, manifests: { type: 'string', multiple: true } },
})
if (!values.version || !values.program || !values.manifests)
  throw new Error(
    'Usage: node test/rules/capsule/record-answers.ts --version VERSION --program CAPSULE --manifests FILE... (the CustomResourceDefinitions of that version and of the Gateway API, and what its chart renders)',
  )

const world = readWorld()
const capsule = await startCapsule(world, {
  program: values.program,
  manifests: values.manifests,
  minor: Number(values.version.split('.')[1]),
})
try {
  for (const tenant of Object.keys(world.tenants)) {
    for (const object of tenantObjects(world, tenant)) await capsule.make(object, accountName(tenant))
  }
  await capsule.settled()
  const answers: { [question: string]: Answer } = {}
  for (const question of questions()) answers[question.name] = await ask(question)
  const made = await capsule.rbac()
  const said = Object.entries(answers).map(([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`)
  // one line each, so that a difference is one
  const text = `{"answers": {\n${said.join(',\n')}\n},\n"made": [\n${made.map(one => JSON.stringify(one)).join(',\n')}\n]}`
  writeFileSync(join(import.meta.dirname, '../../fixtures/capsule/answers', `${values.version}.json`), `${text}\n`)
  console.log(
    `${Object.keys(answers).length} answers and ${made.length} roles and bindings of Capsule ${values.version}`,
  )
} finally {
  await capsule.stop()
}

/** Nothing is stored: each question is asked of the same cluster. */
async function ask({ object, as, isDeletion }: Question): Promise<Answer> {
  const { name } = (object as { metadata: { name: string } }).metadata
  const path = collectionOf(object)
  const user = accountName(as)
  const options = { impersonate: user, groups: groupsOf(user) }
  const known = await capsule.request('GET', `${path}/${name}`)
  const [method, place] = isDeletion
    ? ['DELETE', `${path}/${name}`]
    : known.status === 200
      ? ['PATCH', `${path}/${name}`]
      : ['POST', path]
  const type = method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}
  const { status, body } = await capsule.request(method!, `${place}?dryRun=All`, isDeletion ? undefined : object, {
    ...options,
    ...type,
  })
  if (status < 300) return tenantOf(body)
  const { message } = body as { message: string }
  const refused = /^admission webhook "[^"]+" denied the request: (.*)$/s.exec(message)?.[1]
  if (refused === undefined) throw new Error(`${status} ${message}`)
  return { refused }
}

function tenantOf(body: Json): Answer {
  const { kind, metadata } = body as {
    kind: string
    metadata?: { ownerReferences?: { kind: string; name: string }[] }
  }
  const owner = metadata?.ownerReferences?.find(one => one.kind === 'Tenant')
  return kind === 'Namespace' && owner ? { tenant: owner.name } : {}
}
