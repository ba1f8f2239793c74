import { type Document, isMap, isScalar, LineCounter, parseAllDocuments, Scalar, visit } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { IgnoreRules, MatchWork, parsePattern } from '../../flux/source-ignore.ts'
import { parentOf, type Tree, type TreeEntry } from '../../git/tree.ts'
import { type CustomScopes, scopeOf } from '../../kube/capabilities/scope.ts'

/** What a fleet gives each new tenant besides its account and its sync. */
interface TenantTemplate {
  /** Its folder; '' where the fleet has none. */
  readonly folder: string
  /** Files with objects, by name. */
  readonly files: ReadonlyMap<string, string>
  /** Lines for the CODEOWNERS of the fleet. */
  readonly owners: string
  /** Paths that are not used. */
  readonly unused: readonly string[]
}

const FOLDER = 'template'
const OWNERS = 'CODEOWNERS'
const MAX_FILES = 50
const MAX_BYTES = 64 * 1024

/**
 * The folder `template` beside the folder of the tenants, or in it (`tenants/template`). Throws `onboard-layout` for one that
 * cannot be copied as it is.
 */
export function readTemplate(tree: Tree, base: string): TenantTemplate {
  const beside = parentOf(base) === '' ? [] : [`${parentOf(base)}/${FOLDER}`]
  const folder = [...beside, base === '' ? FOLDER : `${base}/${FOLDER}`].find(path => tree.entry(path))
  const files = new Map<string, string>()
  const unused: string[] = []
  let owners = ''
  if (folder === undefined) return { folder: '', files, owners, unused }
  const entries = tree.list(folder)
  if (entries.length > MAX_FILES) throw refused(folder, `has more than ${MAX_FILES} files`, 'Merge some of its files.')
  for (const entry of entries) {
    const { name, path } = entry
    if (/^kustomization\.ya?ml$/i.test(name) || name === 'README.md') continue
    if (name === OWNERS) owners = textOf(tree, entry)
    else if (/\.ya?ml$/.test(name)) files.set(name, textOf(tree, entry))
    else unused.push(path)
  }
  return { folder, files, owners, unused }
}

function textOf(tree: Tree, { path, type }: TreeEntry): string {
  if (type !== 'file') throw refused(path, `is a ${type}`, 'Commit it as a file.')
  const bytes = tree.read(path)
  if (bytes.length > MAX_BYTES) throw refused(path, `is larger than ${MAX_BYTES / 1024} KiB`, 'Split it.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw refused(path, 'is not UTF-8 text', 'Save it as UTF-8.', cause)
  }
}

function refused(file: string, what: string, fix: string, cause?: unknown): BailiwickError {
  const origin = { repository: '', file, line: 1, column: 1 }
  return new BailiwickError('onboard-layout', `${file}: ${what}`, { fix, origin, cause })
}

/** Words that YAML 1.1 does not take for text. */
const WORDS: ReadonlySet<string> = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'])

/** A file of a template; `path` is for errors. */
interface TemplateFile {
  readonly path: string
  readonly text: string
}

/**
 * The objects of a template file for a tenant, once for each of its namespaces. `${TENANT}`, `${NAMESPACE}`, `${ACCOUNT}` and
 * `${TEAM}` are replaced in texts, never in structure: a name that YAML reads as a number stays text. Throws `onboard-layout` for
 * an object that does not belong in a namespace of the tenant.
 */
export function fillTemplate(file: TemplateFile, tenant: TemplateTenant, scopes: CustomScopes): string {
  const counter = new LineCounter()
  const documents = [...parseAllDocuments(file.text, { lineCounter: counter })].filter(one => one.contents !== null)
  for (const document of documents) {
    const line = counter.linePos(document.contents?.range?.[0] ?? 0).line
    checkObject(document, { ...file, line }, scopes)
  }
  return tenant.namespaces
    .flatMap(namespace => documents.map(document => filled(document, { ...file, line: 1 }, tenant, namespace)))
    .map(text => `---\n${text}`)
    .join('')
}

type Place = TemplateFile & { readonly line: number }

function checkObject(document: Document, place: Place, scopes: CustomScopes): void {
  const [error] = document.errors
  if (error) throw refusedTemplate({ ...place, line: error.linePos?.[0].line ?? 1 }, 'is not valid YAML', 'Correct it.')
  const [apiVersion, kind] = [document.get('apiVersion'), document.get('kind')]
  if (!isMap(document.contents) || typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw refusedTemplate(place, 'is not a Kubernetes object', 'Give each object an apiVersion and a kind.')
  }
  const scope = scopeOf(apiVersion, kind, scopes)
  const namespace = document.getIn(['metadata', 'namespace'])
  if (scope === 'Cluster') {
    throw refusedTemplate(
      place,
      `${kind} belongs to the whole cluster`,
      'Keep only objects of namespaces in the template.',
    )
  }
  if (namespace !== undefined && namespace !== NAMESPACE_VARIABLE) {
    throw refusedTemplate(
      place,
      'metadata.namespace is another namespace',
      `Write \`namespace: ${NAMESPACE_VARIABLE}\`.`,
    )
  }
  if (namespace === undefined && scope === undefined) {
    throw refusedTemplate(place, `it is not known whether ${kind} belongs in a namespace`, WRITE_NAMESPACE)
  }
  if (typeof document.getIn(['metadata', 'name']) !== 'string') {
    throw refusedTemplate(place, 'metadata.name is missing', 'Give each object a name.')
  }
}

/** Replaced by each namespace of the tenant. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a template says
const NAMESPACE_VARIABLE = '${NAMESPACE}'

const WRITE_NAMESPACE = `If it does, write \`namespace: ${NAMESPACE_VARIABLE}\`.`

function filled(document: Document, place: Place, tenant: TemplateTenant, namespace: string): string {
  const copy = document.clone()
  copy.setIn(['metadata', 'namespace'], copy.createNode(NAMESPACE_VARIABLE))
  visit(copy, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return
      const { text, missing } = withNames(node.value, tenant, namespace)
      if (missing !== undefined) {
        throw refusedTemplate(
          place,
          `uses ${missing}, and the request names no team`,
          'Add `--team ORGANIZATION/TEAM`.',
        )
      }
      if (text === node.value) return
      node.value = text
      const isPlain = node.type === undefined || node.type === Scalar.PLAIN
      if (isPlain && !isText(text)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return copy.toString({ lineWidth: 0, directives: false })
}

const isText = (value: string) => /^[a-z]/.test(value) && !WORDS.has(value)

function refusedTemplate({ path, line }: Place, what: string, fix: string): BailiwickError {
  const origin = { repository: '', file: path, line, column: 1 }
  return new BailiwickError('onboard-layout', `${path}: ${what}`, { fix, origin })
}

/** The tenant of a template. */
interface TemplateTenant {
  readonly tenant: string
  readonly account: string
  readonly team: string | undefined
  readonly namespaces: readonly string[]
}

/** What a template may name; undefined where the request does not say it. */
interface TemplateNames {
  readonly TENANT: string
  readonly NAMESPACE: string
  readonly ACCOUNT: string
  readonly TEAM: string | undefined
}

/** `$${X}` is how Flux writes a dollar sign, and other names are variables of Flux: both stay. */
const VARIABLE = /(?<!\$)\$\{(TENANT|NAMESPACE|ACCOUNT|TEAM)\}/g

/** A text with its names filled in, for one of the namespaces. `missing`: a variable without a name. */
function withNames(
  text: string,
  { tenant, account, team }: TemplateTenant,
  namespace: string,
): { text: string; missing: string | undefined } {
  const names: TemplateNames = { TENANT: tenant, NAMESPACE: namespace, ACCOUNT: account, TEAM: team }
  let missing: string | undefined
  const filled = text.replaceAll(VARIABLE, (variable, name: keyof TemplateNames) => {
    const value = names[name]
    if (value === undefined) missing ??= variable
    return value ?? variable
  })
  return { text: filled, missing }
}

const MAX_STEPS = 1_000_000
/** GitHub ignores a larger file. */
const MAX_CODE_OWNERS_BYTES = 3 * 1024 * 1024

/**
 * Who owns any of these files, as the CODEOWNERS of the fleet names them: of each file the last line that matches. Throws
 * `render-limits` for patterns that need too much work.
 */
export function codeOwners(tree: Tree, paths: readonly string[]): string[] {
  const file = OWNER_FILES.find(path => tree.entry(path)?.type === 'file')
  const bytes = file === undefined ? undefined : tree.read(file)
  if (!bytes || bytes.length > MAX_CODE_OWNERS_BYTES) return []
  const work = new MatchWork(MAX_STEPS)
  const lines = new TextDecoder()
    .decode(bytes)
    .split(/\r?\n/)
    .map(line =>
      line
        .replace(/(?:^|\s)#.*/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([pattern]) => pattern !== undefined && pattern !== '')
    .reverse()
  const owners = paths.flatMap(
    path => lines.find(([pattern = '']) => owns(pattern, path.split('/'), work))?.slice(1) ?? [],
  )
  return [...new Set(owners)].sort()
}

/** A pattern of a directory owns what is in it; `docs/*` owns its files alone, unlike in .gitignore (GitHub, About code owners). */
function owns(pattern: string, path: readonly string[], work: MatchWork): boolean {
  const name = path.at(-1)!.replaceAll(/[\\*?[\]!#]/g, '\\$&')
  const isFiles = pattern.endsWith('/*')
  const rules = new IgnoreRules([parsePattern(isFiles ? `${pattern.slice(0, -1)}${name}` : pattern, [])], work)
  if (isFiles) return rules.ignores(path, false) && !rules.ignores(path.slice(0, -1), true)
  return path.some((_, index) => rules.ignores(path.slice(0, index + 1), index < path.length - 1))
}

/** Where GitHub looks for it, the first one that is there. */
const OWNER_FILES = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

interface OwnersFile {
  readonly path: string
  readonly content: string
}

/** The CODEOWNERS of the fleet with the lines of a template behind its own; undefined where it has them. The last line that matches counts. */
export function addOwners(tree: Tree, template: TenantTemplate, tenant: TemplateTenant): OwnersFile | undefined {
  const lines = template.owners.split(/\r?\n/).filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'))
  const filled = lines.flatMap(line =>
    tenant.namespaces.map(namespace => {
      const { text, missing } = withNames(line, tenant, namespace)
      if (missing === undefined) return text
      const file = `${template.folder}/CODEOWNERS`
      throw new BailiwickError('onboard-layout', `${file}: uses ${missing}, and the request names no team`, {
        fix: 'Add `--team ORGANIZATION/TEAM`.',
        origin: { repository: '', file, line: 1, column: 1 },
      })
    }),
  )
  const path = OWNER_FILES.find(place => tree.entry(place)) ?? OWNER_FILES[0]
  const text = tree.entry(path)?.type === 'file' ? new TextDecoder().decode(tree.read(path)) : ''
  const known = new Set(text.split(/\r?\n/).map(line => line.trim()))
  const wanted = [...new Set(filled)].filter(line => !known.has(line.trim()))
  if (wanted.length === 0) return undefined
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return { path, content: `${start}${wanted.join('\n')}\n` }
}
