// `npm run release -- --repository URL [--dry-run] [--out FOLDER]`: writes the files of a release. It publishes nothing, but prints
// the commands that do.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeRelease } from './write-release.ts'

const USAGE = `usage: npm run release -- --repository URL [--out FOLDER] [--dry-run]

  --repository URL   https address of the sources
  --out FOLDER       a new folder for the files (default: release)
  --dry-run          rehearse it on any commit`

/** Its exit code. Expected failures are one line. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      out: { type: 'string', default: 'release' },
      repository: { type: 'string' },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const isRehearsal = values['dry-run']
  const repository = values.repository ?? (isRehearsal ? 'https://github.com/YOUR-ORGANIZATION/bailiwick' : undefined)
  if (repository === undefined)
    throw new Error('--repository is missing. Name the https address of the sources, or use --dry-run.')
  const out = resolve(values.out)
  const { version, image } = await writeRelease(out, { isRehearsal, repository })
  console.log(`${isRehearsal ? 'Rehearsal of ' : ''}bailiwick ${version} in ${out}, image ${image}

To publish:
  npm publish ${join(out, `bailiwick-${version}.tgz`)} --provenance
  skopeo copy --all oci-archive:${join(out, `bailiwick-${version}-image.tar`)} docker://REGISTRY/bailiwick:${version}
  gh release create v${version} --notes-file ${join(out, 'NOTES.md')} ${out}/*`)
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
