import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { codeWord, message, untyped } from '../../base/message.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath, packTree } from '../../flux/artifact.ts'
import { IgnoreRules, MatchWork, parsePattern } from '../../flux/source-ignore.ts'
import { entriesBelow, type Tree, type TreeEntry } from '../../git/tree.ts'
import { BUCKET, GIT_REPOSITORY, OCI_REPOSITORY } from '../../kube/flux-kinds.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'
import { type RenderedDirectory, renderedDirectories, renderedFiles, violationIn } from './rendered-tree.ts'

/** Comparisons of patterns with paths, for all `.gitattributes` of a repository together. */
const MAX_STEPS = 30_000_000
const MANIFEST = /\.(?:ya?ml|json|env|properties|txt|conf|toml|sh)$|^Kustomization$/i

/** Git attributes must not hide what is deployed, or change it. */
export const gitAttributesTamper: Rule = {
  id: 'git-attributes-tamper',
  severity: 'medium',
  title: 'Git attributes that change manifests',
  why: "`linguist-generated` and `-diff` collapse a file in GitHub's diff, where reviewers overlook it. `filter`, `ident`, `export-subst`, `working-tree-encoding` and `eol=crlf` change the bytes of a checkout or archive, and `export-ignore` removes files from it. Bailiwick, Flux and reviewers then read different files.",
  source: 'gitattributes(5); GitHub, Customizing how changed files appear',
  docs: 'Set such attributes only for files that are not deployed. `* text=auto` is allowed.',
  *checkRepository(repository) {
    const places = renderedDirectories(repository).filter(({ facts }) => facts.attributes)
    if (places.length === 0) return
    const files = [...renderedFiles(repository)].filter(({ entry }) => MANIFEST.test(entry.name))
    const work = new MatchWork(MAX_STEPS)
    for (const { path, facts } of places) yield* tampering(repository, path, facts.attributes!.path, files, work)
  },
}

interface RenderedFile {
  readonly entry: TreeEntry
  readonly reader: FleetNode
}

function* tampering(
  repository: EvaluatedRepository,
  domain: string,
  path: string,
  all: readonly RenderedFile[],
  work: MatchWork,
): Generator<Violation> {
  work.spend(all.length)
  const files = domain === '' ? all : all.filter(({ entry }) => entry.path.startsWith(`${domain}/`))
  if (files.length === 0) return
  const lines = readAttributes(Buffer.from(repository.tree.read(path)).toString('utf8'))
  const parts = domain === '' ? [] : domain.split('/')
  for (const line of lines) {
    const effect = effectOf(line)
    if (!effect) continue
    const file = files.find(({ entry }) => fits(line.pattern, parts, entry.path.split('/'), work))
    if (!file) continue
    yield violationIn(repository, file.reader, path, `${line.pattern} ${effect.attribute}`, {
      line: line.line,
      level: effect.level,
      message: message`${quoted('path', path)} sets ${quoted('value', effect.attribute)} for ${quoted('value', line.pattern)}, which matches the deployed file ${quoted('path', file.entry.path)}. It ${untyped(effect.what)}. Allowed: such attributes only for files that are not deployed.`,
      fix: message`Remove the attribute, or change its pattern to match no deployed file.`,
    })
  }
}

interface Effect {
  readonly attribute: string
  readonly level: 'violation' | 'warning'
  readonly what: string
}

function effectOf({ attributes }: AttributeLine): Effect | undefined {
  const effects = attributes.flatMap(attribute => effect(attribute) ?? [])
  return effects.find(({ level }) => level === 'violation') ?? effects[0]
}

function effect(attribute: string): Effect | undefined {
  const [name = '', value] = attribute.split('=') as [string, string?]
  const change = (what: string): Effect => ({ attribute, level: 'violation', what })
  const fold = (what: string): Effect => ({ attribute, level: 'warning', what })
  if (name === 'filter' && value !== undefined) return change('makes a checkout differ from the commit')
  if (name === 'export-ignore') return change('removes the file from archives of the repository')
  if (name === 'export-subst' || name === 'ident') return change('changes the file at checkout or in an archive')
  if (name === 'working-tree-encoding' && value !== undefined) return change('changes the encoding at checkout')
  if (name === 'eol' && value?.toLowerCase() === 'crlf') return change('changes the line endings at checkout')
  if (name === 'crlf') return change('changes the line endings at checkout')
  if (name === 'linguist-generated' && value !== 'false')
    return fold('collapses the file in the diff of a pull request')
  return name === '-diff' ? fold('shows the file as binary in the diff of a pull request') : undefined
}

/** The attributes that one line of a `.gitattributes` sets for the files that its pattern matches. */
interface AttributeLine {
  readonly line: number
  readonly pattern: string
  /** As written, with macros expanded: `-diff`, `eol=crlf`. */
  readonly attributes: readonly string[]
}

/** Attributes of all lines of a file, with macros expanded, which may nest. */
const MAX_ATTRIBUTES = 200_000
const BUILTIN: ReadonlyMap<string, readonly string[]> = new Map([['binary', ['-diff', '-merge', '-text']]])

/**
 * The lines of a `.gitattributes` (gitattributes(5)); a macro is known from the line that defines it. Throws
 * `render-limits` for too many attributes.
 */
export function readAttributes(text: string): AttributeLine[] {
  const macros = new Map(BUILTIN)
  const found: AttributeLine[] = []
  let count = 0
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const quoted = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(line)
    const words = (quoted ? quoted[2]! : line).split(/[ \t]+/).filter(Boolean)
    const pattern = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : words.shift()!
    count += words.reduce((sum, word) => sum + 1 + (macros.get(word)?.length ?? 0), 0)
    if (count > MAX_ATTRIBUTES) throw tooMany()
    const attributes = [...new Set(words.flatMap(word => [word, ...(macros.get(word) ?? [])]))]
    if (pattern.startsWith('[attr]')) macros.set(pattern.slice('[attr]'.length), attributes)
    else found.push({ line: index + 1, pattern, attributes })
  }
  return found
}

function tooMany(): BailiwickError {
  const text = message`a ${codeWord('.gitattributes')} sets more than ${MAX_ATTRIBUTES} attributes after macros are expanded`
  return new BailiwickError('render-limits', text, { fix: message`Remove attributes or macros.` })
}

/** Whether a pattern of the `.gitattributes` in `domain` matches a file; throws `render-limits` for too much work. */
export function fits(pattern: string, domain: readonly string[], path: readonly string[], work: MatchWork): boolean {
  const own = path.slice(domain.length)
  const isName = !pattern.includes('/')
  // a pattern that is a plain name does not apply below a directory of that name
  const seen = isName ? own.slice(-1) : own
  return new IgnoreRules([parsePattern(pattern, [])], work).ignores(seen, false)
}

/** What Flux excludes from an artifact unless an ignore file says otherwise, and a Kustomization could deploy from. */
const DEFAULTS =
  /^(?:\*\*\/|\/)*(?:\.\*|\.git(?:hub|ignore|modules|attributes|lab-ci\.yml)?|\.circleci|\.travis\.yml|appveyor\.yml|\.drone\.yml|cloudbuild\.yaml|codeship-[a-z]+\.yml|\.goreleaser\.yml|\.sops\.yaml|\.flux\.yaml|\*\.(?:jpe?g|gif|png|wmv|flv|tar\.gz|zip))(?:\/|$)/

/** The reviewed files are the packed files. */
export const sourceIgnoreTamper: Rule = {
  id: 'source-ignore-tamper',
  severity: 'high',
  title: 'Ignore pattern that changes deployed content',
  why: '`spec.ignore` and .sourceignore decide which files Flux reads. A pattern that restores default exclusions (.github, archives) deploys files that reviewers do not expect. A pattern that excludes a manifest removes its objects from the cluster although the file is still in git.',
  source: 'fluxcd/pkg sourceignore',
  docs: 'Exclude files that are not deployed with plain patterns, such as `/*` followed by `!/deploy`. Delete files that should no longer be deployed.',
  kinds: [GIT_REPOSITORY, BUCKET, OCI_REPOSITORY],
  *checkObject(subject) {
    const text = subject.text(['spec', 'ignore'])
    if (subject.node.tenant === undefined || text === undefined) return
    for (const { pattern } of reincluded(text)) yield inSource(subject, pattern)
  },
  *checkRepository(repository) {
    for (const { path, facts, reader } of renderedDirectories(repository)) {
      const node = reader ?? (path === '' ? repository.nodes[0] : undefined)
      if (!facts.ignore || !node || (node.tenant === undefined && path !== '')) continue
      yield* inFile(repository, node, facts.ignore.path)
    }
    yield* hiddenNow(repository)
  },
}

function reincluded(text: string): { pattern: string; line: number }[] {
  return text.split('\n').flatMap((line, index) => {
    const pattern = line.trim()
    return pattern.startsWith('!') && DEFAULTS.test(pattern.slice(1)) ? [{ pattern, line: index + 1 }] : []
  })
}

function inSource(subject: Subject, pattern: string): Violation {
  return subject.violation(['spec', 'ignore'], pattern, {
    message: message`${subject.who} includes ${quoted('value', pattern)}, which Flux excludes from artifacts by default: it deploys manifests from there. Allowed: patterns that exclude files.`,
    fix: message`Remove this pattern.`,
  })
}

function* inFile(repository: EvaluatedRepository, node: FleetNode, file: string): Generator<Violation> {
  const bytes = repository.tree.read(file)
  for (const { pattern, line } of reincluded(Buffer.from(bytes).toString('utf8'))) {
    yield violationIn(repository, node, file, pattern, {
      line,
      message: message`${quoted('path', file)} includes ${quoted('value', pattern)}, which Flux excludes from artifacts by default: it deploys manifests from there. Allowed: patterns that exclude files.`,
      fix: message`Remove this pattern.`,
    })
  }
}

/** Manifests that were packed before the change, still exist, and are no longer packed. */
function* hiddenNow(repository: EvaluatedRepository): Generator<Violation> {
  const { tree, before, nodes } = repository
  if (!before || before.id === tree.id) return
  const now = new Map<string, Tree | undefined>()
  const seen = new Set<string>()
  for (const node of nodes) {
    if (node.tenant === undefined || node.source.includes) continue
    const start = artifactPath(node.path)
    // of several nodes that read a directory the first one gets the finding, as in other rules about files
    if (seen.has(start)) continue
    seen.add(start)
    if (before.entry(start)?.id === tree.entry(start)?.id && ignoreId(before) === ignoreId(tree)) continue
    for (const file of manifestsBelow(tree, start)) {
      if (!before.entry(file) || isPacked(tree, file, now) || !isPacked(before, file, now)) continue
      yield violationIn(repository, node, file, `hidden ${file}`, {
        message: message`${quoted('path', file)} is still in the repository, but a ${codeWord('.sourceignore')} now excludes it. Flux deletes its objects from the cluster. Allowed: deployed files that no pattern excludes.`,
        fix: message`Delete the file, or remove the pattern that excludes it.`,
      })
    }
  }
}

const ignoreId = (tree: Tree) => tree.entry('.sourceignore')?.id

function* manifestsBelow(tree: Tree, directory: string): Generator<string> {
  for (const { type, name, path } of entriesBelow(tree, directory))
    if (type === 'file' && /\.ya?ml$/.test(name)) yield path
}

function isPacked(tree: Tree, file: string, packed: Map<string, Tree | undefined>): boolean {
  if (!packed.has(tree.id)) packed.set(tree.id, tryPack(tree))
  return packed.get(tree.id)?.entry(file) !== undefined
}

/** A tree that cannot be packed is an error of every node that follows it. */
function tryPack(tree: Tree): Tree | undefined {
  return unlessRefused(undefined, () => packTree(tree))
}

const FIELD = ['spec', 'recurseSubmodules']

/** A source's content is in the repository that it names. The renderer also raises it, for submodules in overlays. */
export const sourceSubmodules: Rule = {
  id: 'source-submodules',
  severity: 'high',
  title: 'Git submodules in a source',
  why: 'A submodule is another repository, at an address that the writer of .gitmodules chooses. Flux fetches it with the credentials of the source, and Bailiwick does not evaluate it.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Recurse submodules"; CVE-2022-24348 for the class',
  docs: 'Remove `spec.recurseSubmodules`. Declare a source and a Kustomization for the other repository.',
  kinds: [GIT_REPOSITORY],
  *checkTenantObject(subject) {
    const flag = subject.at(FIELD)
    const isOn = flag?.type === 'scalar' && (flag.value === true || flag.value === 'true')
    if (!isOn) return
    yield subject.violation(FIELD, 'true', {
      message: message`${subject.who} fetches submodules, which are not evaluated. Allowed: no submodules. Flux accepts it.`,
      fix: message`Remove spec.recurseSubmodules.`,
      edit: { remove: true },
    })
  },
  checkRepository: renderedSubmodules,
}

/** Submodules in what is rendered: empty here, but with another repository's content where Flux recurses into them. */
function* renderedSubmodules(repository: EvaluatedRepository): Generator<Violation> {
  for (const { facts, readerOf } of renderedDirectories(repository)) {
    for (const entry of facts.submodules) {
      const reader = readerOf(entry)
      if (!reader) continue
      yield violationIn(repository, reader, entry.path, `submodule ${entry.path}`, {
        message: message`${quoted('path', entry.path)} is a submodule: its content comes from another repository and is not evaluated. Allowed: files in this repository. Flux leaves it empty unless the source sets ${codeWord('spec.recurseSubmodules')}.`,
        fix: message`Copy the files into this repository, or declare the other repository as a source with its own Kustomization.`,
      })
    }
  }
}

/** Each rendered file name means one file, to every program and file system. */
export const gitPathAmbiguous: Rule = {
  id: 'git-path-ambiguous',
  severity: 'high',
  title: 'Ambiguous file name',
  why: 'Two names that differ only in case or Unicode normalization are one file on macOS and Windows. Terminals, CI logs and command lines interpret line breaks, escape sequences and leading dashes in names. A reviewer then sees another tree than Flux deploys.',
  source: 'CVE-2014-9390, CVE-2021-41254',
  docs: 'Use letters, digits, dots, dashes and underscores in file names, and use each name once. The rule covers deployed files, and names anywhere that hide their content.',
  *checkRepository(repository) {
    for (const directory of renderedDirectories(repository)) {
      yield* oddNames(repository, directory)
      yield* collisions(repository, directory)
    }
  },
}

/** Outside of rendered directories, below the root, only names that hide what they are: they mislead any reader. */
function* oddNames(
  repository: EvaluatedRepository,
  { path, facts, readerOf }: RenderedDirectory,
): Generator<Violation> {
  for (const { entry, problem, hides } of facts.odd) {
    const reader = readerOf(entry)
    const node = reader ?? repository.nodes[0]
    if (!node || !(reader || hides || path === '')) continue
    yield violationIn(repository, node, entry.path, entry.path, {
      message: message`${quoted('path', entry.path)} ${untyped(problem)}. Reviewers can see another file than Flux deploys. Allowed: letters, digits, dots, dashes and underscores.`,
      fix: message`Rename the file.`,
    })
  }
}

function* collisions(repository: EvaluatedRepository, { facts, readerOf }: RenderedDirectory): Generator<Violation> {
  for (const [other, entry] of facts.collisions) {
    const node = readerOf(entry) ?? readerOf(other)
    if (!node) continue
    yield violationIn(repository, node, entry.path, `${other.path} ${entry.path}`, {
      message: message`${quoted('path', other.path)} and ${quoted('path', entry.path)} are one file on file systems that ignore case or Unicode normalization (macOS, Windows). A checkout contains only one of them. Allowed: names that differ in more.`,
      fix: message`Rename or remove one of the files.`,
    })
  }
}
