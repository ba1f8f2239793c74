import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'
import { bundledPackages } from './bundled-packages.ts'

/** Writes THIRD-PARTY-LICENSES.txt: name, version and license of every package that the bundle carries, and what it carries of other projects. */
export function collectLicenses(modules: string): Plugin {
  return {
    name: 'collect-licenses',
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap(output => (output.type === 'chunk' ? output.moduleIds : []))
      const root = join(modules, '..')
      const notices = globSync('src/**/NOTICE.md', { cwd: root }).sort()
      const source = [
        ...bundledPackages(files, modules).map(folder => licenseOf(join(modules, folder))),
        ...notices.map(file => readFileSync(join(root, file), 'utf8')),
      ].join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source })
    },
  }
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = globSync('{LICENSE,LICENCE,license,licence,License,NOTICE,COPYING}*', { cwd: folder }).sort()
  if (license === undefined) throw new Error(`${folder} names no license`)
  return [
    `${name} ${version} (${license})`,
    ...texts.map(file => readFileSync(join(folder, file), 'utf8').trim()),
    '',
  ].join('\n\n')
}
