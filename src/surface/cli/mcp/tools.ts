import { BailiwickError } from '../../../base/errors.ts'
import { TENANT_ROLES } from '../../../tenants/onboard/request.ts'
import { knownResources } from '../../../verdict/audit/access-overview.ts'
import { whoCan } from '../../../verdict/audit/who-can.ts'
import { access } from '../access.ts'
import { canI, resourceArgument, resourcePlaceOf } from '../can-i.ts'
import { check } from '../check.ts'
import type { Command } from '../command.ts'
import { explain } from '../explain.ts'
import { readGiven } from '../given.ts'
import { render } from '../render.ts'
import { givenRepository } from '../working-copy.ts'
import {
  type ArgumentSchema,
  type InputSchema,
  onboardPreview,
  openFleet,
  type Roots,
  type ToolArguments,
  tenantArea,
} from './tool-arguments.ts'

const HIDDEN = '(not shown)'

/** Removes the values of Secrets from objects of `render --origins`, because answers are sent to a model. */
function withoutSecrets(objects: unknown): unknown {
  return Array.isArray(objects) ? objects.map(object => (isSecret(object) ? hidden(object) : object)) : objects
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSecret = (object: unknown): object is Readonly<Record<string, unknown>> =>
  isRecord(object) && object.kind === 'Secret'

/** A Secret reduced to its identity and origin. */
function hidden(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, namespace, name, trail } = object
  return { apiVersion, kind, namespace, name, trail, values: HIDDEN }
}

/** A tool for agents. It reads folders below the roots and writes nothing. */
interface Tool {
  readonly name: string
  readonly description: string
  readonly input: InputSchema
  /** Resolves to plain JSON. Throws BailiwickError. */
  run(given: ToolArguments, roots: Roots): Promise<unknown>
}

const NAME = '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$'
const text = (description: string, pattern?: string): ArgumentSchema => ({
  type: 'string',
  description,
  ...(pattern === undefined ? {} : { pattern }),
})
const list = (description: string, pattern?: string): ArgumentSchema => ({
  type: 'array',
  description,
  items: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
})

/** Arguments that locate the fleet and the other repositories. */
const FLEET = {
  fleet: text('the folder of the fleet repository (default: the current folder)'),
  repos_dir: text('a folder with clones of the other repositories, each identified by its remote'),
  cluster: text('the name of one cluster (default: all)', NAME),
}
const RULE = '^[a-z][a-z0-9-]{0,99}$'

export const TOOLS: readonly Tool[] = [
  {
    name: 'tenant_area',
    description:
      'What a tenant may do: its namespaces, accounts, sources, and the verbs and kinds that its accounts have in each namespace. Ask this before you write manifests for a tenant.',
    input: { properties: { tenant: text('the name of a tenant', NAME), ...FLEET }, required: ['tenant'] },
    run: tenantArea,
  },
  {
    name: 'check',
    description:
      'Evaluates a working copy of the fleet, or of a tenant repository together with its fleet, with changes that are not committed. Lists violations with file, line and the edit that fixes them. Ask this before you open a pull request.',
    input: {
      properties: {
        dir: text('the folder of the repository that was changed (default: the current folder)'),
        base: text('a commit or branch to compare with: then only what the change causes counts', '^[^-]'),
        fleet: text('the folder of the fleet, if dir is the repository of a tenant'),
        repos_dir: FLEET.repos_dir,
        repos: list('URL=DIR or URL#BRANCH=DIR: the folder with the content of another source', '^[^-\\s][^=]*=.'),
        clusters: list('names of clusters to evaluate (default: all)', NAME),
        tenants: list('names of tenants to evaluate (default: all)', NAME),
      },
      required: [],
    },
    async run(given, roots) {
      const [base, fleet] = [given.one('base'), given.one('fleet')]
      const path = await roots.repository(given.one('dir') ?? '.')
      const args = [
        path,
        ...(base === undefined ? [] : [`--base=${base}`]),
        ...(fleet === undefined ? [] : [`--fleet=${await roots.repository(fleet)}`]),
        ...(await clonesOption(given, roots)),
        ...(await Promise.all(given.all('repos').map(one => repositoryOption(one, roots)))),
        ...given.all('clusters').map(name => `--cluster=${name}`),
        ...given.all('tenants').map(name => `--tenant=${name}`),
        '--output=json',
      ]
      const { stdout } = await runCommand(check, args, roots)
      const { changes: _changes, ...verdict } = JSON.parse(stdout)
      return verdict
    },
  },
  {
    name: 'can_i',
    description: 'Whether an account or user may do something on a cluster, and which binding allows it.',
    input: {
      properties: {
        verb: text('a verb such as get, create, patch', '^[a-z*][a-z*-]{0,60}$'),
        resource: text('a resource such as deployments.apps or deploy/web', '^[a-zA-Z0-9*/][^\\s]{0,300}$'),
        as: text('who: NAMESPACE/NAME of an account, or a user', '^[^-\\s]'),
        namespace: text('the namespace (default: the whole cluster)', NAME),
        ...FLEET,
      },
      required: ['verb', 'resource', 'as'],
    },
    async run(given, roots) {
      const namespace = given.one('namespace')
      const args = [
        ...[given.text('verb'), given.text('resource'), await roots.repository(given.one('fleet') ?? '.')],
        `--as=${given.text('as')}`,
        ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
        ...(await fleetOptions(given, roots)),
        '--output=json',
      ]
      return runJson(canI, args, roots)
    },
  },
  {
    name: 'who_can',
    description:
      'Who may do something in a namespace: accounts, users and groups with their bindings, and the repositories whose content is applied as them. Without verb and resource: who can change the namespace at all.',
    input: {
      properties: {
        namespace: text('the namespace', NAME),
        verb: text('a verb such as get, create, patch', '^[a-z*][a-z*-]{0,60}$'),
        resource: text('a resource such as secrets or deployments.apps', '^[a-zA-Z0-9*][^\\s/]{0,300}$'),
        ...FLEET,
      },
      required: ['namespace'],
    },
    async run(given, roots) {
      if (given.one('verb') !== undefined || given.one('resource') !== undefined) return answerWhoCan(given, roots)
      const path = await roots.repository(given.one('fleet') ?? '.')
      const args = [given.text('namespace'), path, ...(await fleetOptions(given, roots)), '--output=json']
      return runJson(access, args, roots)
    },
  },
  {
    name: 'render',
    description:
      'What a directory builds (kustomize build), with file and line that wrote each field. Values of Secrets are left out.',
    input: { properties: { dir: text('the directory of a kustomization') }, required: ['dir'] },
    async run(given, roots) {
      const { path, root } = await roots.folder(given.text('dir'))
      const { stdout } = await runCommand(render, [path, '--root', root, '--origins', '-o', 'json'], roots)
      return { objects: withoutSecrets(JSON.parse(stdout)) }
    },
  },
  {
    name: 'explain_rule',
    description: 'What a rule of Bailiwick asks, why, and how to write it instead; or what an error code means.',
    input: { properties: { rule: text('the id of a rule, or an error code', RULE) }, required: ['rule'] },
    run: (given, roots) => runJson(explain, [given.text('rule'), '-o', 'json'], roots),
  },
  {
    name: 'onboard_preview',
    description: 'The files that onboarding a new tenant would write into the fleet. Nothing is written.',
    input: {
      properties: {
        tenant: text('the name of the new tenant', NAME),
        repo: text('https or ssh address of its repository', '^[^-\\s]\\S*$'),
        namespaces: list('its namespaces', NAME),
        clusters: list('clusters of the fleet that it is added to', NAME),
        branch: text('branch that the fleet follows (default: main)', '^[^-\\s]\\S*$'),
        path: text('directory of its repository (default: the root)', '^\\./\\S*$'),
        role: text('tenant, cluster-admin, admin or edit, inside its namespaces', `^(?:${TENANT_ROLES.join('|')})$`),
        fleet: FLEET.fleet,
      },
      required: ['tenant', 'repo', 'namespaces', 'clusters'],
    },
    run: onboardPreview,
  },
]

async function runJson(command: Parameters<typeof runCommand>[0], args: readonly string[], roots: Roots) {
  const { stdout, notes } = await runCommand(command, args, roots)
  return { answer: JSON.parse(stdout), ...(notes.length > 0 ? { notes } : {}) }
}

async function clonesOption(given: ToolArguments, roots: Roots): Promise<string[]> {
  const path = given.one('repos_dir')
  return path === undefined ? [] : [`--repos-dir=${(await roots.folder(path)).path}`]
}

/** Throws `usage` if the folder is outside of the roots. */
async function repositoryOption(text: string, roots: Roots): Promise<string> {
  const { url, ref, dir } = givenRepository(text, roots.first)
  return `--repo=${url}${ref === undefined ? '' : `#${ref}`}=${(await roots.folder(dir)).path}`
}

async function fleetOptions(given: ToolArguments, roots: Roots): Promise<string[]> {
  const cluster = given.one('cluster')
  return [...(cluster === undefined ? [] : [`--cluster=${cluster}`]), ...(await clonesOption(given, roots))]
}

/** Answers the tool `who_can`: who may do something in a namespace of each cluster. */
async function answerWhoCan(given: ToolArguments, roots: Roots) {
  const [verb, resource, namespace] = [given.one('verb'), given.one('resource'), given.text('namespace')]
  if (verb === undefined || resource === undefined) {
    throw new BailiwickError('usage', 'verb and resource belong together', { fix: 'Give both, or neither.' })
  }
  const { fleet, clusters, index, unknown } = await openFleet(given, roots)
  const asked = resourceArgument(verb, resource, knownResources(fleet, clusters))
  const place = resourcePlaceOf(asked, verb, namespace ?? '')
  const request = { verb, apiGroup: asked.group, resource: asked.resource, namespace: place, name: asked.name }
  return { request, clusters: clusters.map(cluster => whoCan(fleet, index, cluster, request)), unknown }
}

/** Runs a CLI command and captures its output; `notes` is its stderr. Throws what the command throws. */
async function runCommand(
  command: Command,
  args: readonly string[],
  { first }: Roots,
): Promise<{ readonly stdout: string; readonly notes: readonly string[] }> {
  let [stdout, stderr] = ['', '']
  await command.run(readGiven(command, args), {
    stdout(text) {
      stdout += text
    },
    stderr(text) {
      stderr += text
    },
    stdin: (async function* () {})(),
    cwd: first,
  })
  return { stdout, notes: stderr.split('\n').filter(line => line !== '') }
}
