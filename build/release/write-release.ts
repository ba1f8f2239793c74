import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../image/run.ts'
import { writeImage } from '../image/write-image.ts'
import { provenance, type ReleasedFile } from './provenance.ts'
import { releaseNotes } from './release-notes.ts'
import { sbom } from './sbom.ts'

interface Release {
  readonly version: string
  /** Digest of the image index. */
  readonly image: string
  readonly files: readonly ReleasedFile[]
}

const ROOT = join(import.meta.dirname, '../..')

/**
 * Writes the package, image layout, bill of materials, notes, provenance and checksums of the current version to a new folder.
 * `repository`: https URL of the sources. Unless `isRehearsal`, everything must be committed and the commit must have the
 * version's tag. Publishes nothing. Throws if a requirement is not met.
 */
export async function writeRelease(
  out: string,
  { isRehearsal, repository }: { readonly isRehearsal: boolean; readonly repository: string },
): Promise<Release> {
  const started = new Date().toISOString()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const notes = releaseNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)
  if (!isRehearsal) assertReleasable(version)
  if (existsSync(out)) throw new Error(`${out}: exists already. Remove it, or name another folder with --out.`)
  mkdirSync(out, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-release-'))
  try {
    const image = await writeImage(join(scratch, 'image'))
    archive(join(scratch, 'image'), join(out, `bailiwick-${version}-image.tar`))
    run(['npm', 'run', '--silent', 'build'], ROOT)
    run(['npm', 'pack', '--silent', '--pack-destination', out, './dist'], ROOT)
    writeJson(join(out, 'sbom.cdx.json'), await sbom(ROOT, image, scratch))
    writeFileSync(join(out, 'NOTES.md'), notes)
    const built = filesOf(out)
    const revision = run(['git', 'rev-parse', 'HEAD'], ROOT).trim()
    const lock = fileOf(ROOT, 'package-lock.json')
    const times = { started, finished: new Date().toISOString() }
    writeJson(join(out, 'provenance.intoto.json'), provenance(built, { repository, revision, lock, ...times }))
    const files = filesOf(out)
    writeFileSync(join(out, 'SHA256SUMS'), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
    return { version, image: image.digest, files }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** A release must be reproducible from a tagged commit. */
function assertReleasable(version: string): void {
  const changed = run(['git', 'status', '--porcelain'], ROOT)
  if (changed !== '') throw new Error(`uncommitted changes: commit them, or use --dry-run\n${changed}`)
  const tags = run(['git', 'tag', '--points-at', 'HEAD'], ROOT).split('\n')
  if (!tags.includes(`v${version}`)) throw new Error(`v${version}: no tag of this commit. Tag it, or use --dry-run.`)
}

function archive(folder: string, file: string): void {
  const stable = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  run(['tar', ...stable, '-cf', file, '-C', folder, '.'], ROOT)
}

const writeJson = (file: string, value: object): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

const filesOf = (folder: string): readonly ReleasedFile[] =>
  readdirSync(folder)
    .sort()
    .map(name => fileOf(folder, name))

function fileOf(folder: string, name: string): ReleasedFile {
  return {
    name,
    sha256: createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex'),
  }
}
