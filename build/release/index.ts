// `npm run release -- --repository URL [--dry-run] [--out FOLDER]`: writes the files of a release. It publishes nothing, but prints
// the commands that do.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeRelease } from './write-release.ts'

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    out: { type: 'string', default: 'release' },
    repository: { type: 'string' },
  },
})
const isRehearsal = values['dry-run']
const repository = values.repository ?? (isRehearsal ? 'https://github.com/YOUR-ORGANIZATION/bailiwick' : undefined)
if (repository === undefined) {
  console.error('--repository: missing. Name the https address of the sources, or use --dry-run.')
  process.exit(2)
}
const out = resolve(values.out)
const { version, image } = await writeRelease(out, { isRehearsal, repository })
console.log(`${isRehearsal ? 'Rehearsal of ' : ''}bailiwick ${version} in ${out}, image ${image}

To publish:
  npm publish ${join(out, `bailiwick-${version}.tgz`)} --provenance
  skopeo copy --all oci-archive:${join(out, `bailiwick-${version}-image.tar`)} docker://REGISTRY/bailiwick:${version}
  gh release create v${version} --notes-file ${join(out, 'NOTES.md')} ${out}/*`)
