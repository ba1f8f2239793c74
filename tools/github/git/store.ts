import { objectId } from '../../../src/git/tree.ts'

type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

export interface Signature {
  readonly name: string
  readonly email: string
  /** ISO 8601, whole seconds: git keeps no more. */
  readonly date: string
}

export interface Commit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** An annotated tag. */
interface Tag {
  readonly sha: string
  readonly object: string
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

export type FileMode = '100644' | '100755' | '120000' | '160000'

export interface TreeItem {
  readonly name: string
  readonly mode: FileMode | '40000'
  readonly sha: string
}

/** A file, symlink or submodule of a tree that was flattened. */
export interface FileEntry {
  readonly mode: FileMode
  readonly sha: string
}

export type Files = ReadonlyMap<string, FileEntry>

/** The git objects of one network of forks, by their real SHA-1 ids; what is not there reads as undefined. */
export class ObjectStore {
  readonly #objects = new Map<string, GitObject>()
  readonly #trees = new Map<string, readonly TreeItem[]>()
  readonly #commits = new Map<string, Commit>()

  /** Commits that GitHub signed. */
  readonly signed = new Set<string>()

  put(type: ObjectType, bytes: Uint8Array): string {
    const sha = objectId(type, bytes)
    if (!this.#objects.has(sha)) this.#objects.set(sha, { type, bytes })
    return sha
  }

  /** Every object, for who writes a clone. */
  entries(): Iterable<readonly [sha: string, object: GitObject]> {
    return this.#objects
  }

  has(sha: string, type: ObjectType): boolean {
    return this.#objects.get(sha)?.type === type
  }

  blob(sha: string): Uint8Array | undefined {
    const object = this.#objects.get(sha)
    return object?.type === 'blob' ? object.bytes : undefined
  }

  tree(sha: string): readonly TreeItem[] | undefined {
    const known = this.#trees.get(sha)
    if (known) return known
    const object = this.#objects.get(sha)
    if (object?.type !== 'tree') return undefined
    const items = parseTree(object.bytes)
    this.#trees.set(sha, items)
    return items
  }

  commit(sha: string): Commit | undefined {
    const known = this.#commits.get(sha)
    if (known) return known
    const object = this.#objects.get(sha)
    if (object?.type !== 'commit') return undefined
    const commit = parseCommit(sha, Buffer.from(object.bytes).toString())
    this.#commits.set(sha, commit)
    return commit
  }

  tag(sha: string): Tag | undefined {
    const object = this.#objects.get(sha)
    return object?.type === 'tag' ? parseTag(sha, Buffer.from(object.bytes).toString()) : undefined
  }

  putTag(tag: Omit<Tag, 'sha'>): string {
    const head = `object ${tag.object}\ntype commit\ntag ${tag.name}\ntagger ${signatureLine(tag.tagger)}`
    return this.put('tag', Buffer.from(`${head}\n\n${tag.message}`))
  }

  putCommit(commit: Omit<Commit, 'sha'>): string {
    const lines = [`tree ${commit.tree}`, ...commit.parents.map(parent => `parent ${parent}`)]
    lines.push(`author ${signatureLine(commit.author)}`, `committer ${signatureLine(commit.committer)}`)
    return this.put('commit', Buffer.from(`${lines.join('\n')}\n\n${commit.message}`))
  }

  /** Shas that begin with `prefix` (at least 4 digits), for abbreviated commit names. */
  commitsBeginningWith(prefix: string): string[] {
    return [...this.#objects].filter(([sha, o]) => o.type === 'commit' && sha.startsWith(prefix)).map(([sha]) => sha)
  }
}

function signatureLine({ name, email, date }: Signature): string {
  const clean = (text: string) => text.replaceAll(/[<>\n]/g, '')
  return `${clean(name)} <${clean(email)}> ${Math.floor(Date.parse(date) / 1000)} +0000`
}

function parseTree(bytes: Uint8Array): TreeItem[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const items: TreeItem[] = []
  for (let offset = 0; offset < buffer.length; ) {
    const space = buffer.indexOf(0x20, offset)
    const end = buffer.indexOf(0, space)
    const mode = buffer.toString('latin1', offset, space) as TreeItem['mode']
    const sha = buffer.toString('hex', end + 1, end + 21)
    items.push({ name: buffer.toString('utf8', space + 1, end), mode, sha })
    offset = end + 21
  }
  return items
}

function parseCommit(sha: string, text: string): Commit {
  const { values, one, message } = parseHeaders(sha, text)
  return {
    sha,
    tree: one('tree'),
    parents: values('parent'),
    author: parseSignature(one('author')),
    committer: parseSignature(one('committer')),
    message,
  }
}

function parseTag(sha: string, text: string): Tag {
  const { one, message } = parseHeaders(sha, text)
  return { sha, object: one('object'), name: one('tag'), tagger: parseSignature(one('tagger')), message }
}

function parseHeaders(sha: string, text: string) {
  const split = text.indexOf('\n\n')
  const headers = text.slice(0, split).split('\n')
  const values = (key: string) => headers.filter(h => h.startsWith(`${key} `)).map(h => h.slice(key.length + 1))
  const one = (key: string) => {
    const [value] = values(key)
    if (value === undefined) throw new Error(`${sha} has no ${key}`)
    return value
  }
  return { values, one, message: text.slice(split + 2) }
}

function parseSignature(line: string): Signature {
  const match = /^(.*) <(.*)> (\d+) [+-]\d{4}$/.exec(line)
  if (!match) throw new Error(`not a git signature: ${line}`)
  const date = new Date(Number(match[3]) * 1000).toISOString().replace('.000Z', 'Z')
  return { name: match[1] ?? '', email: match[2] ?? '', date }
}
