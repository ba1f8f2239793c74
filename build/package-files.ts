import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

/** What lies beside the programs; the setup reads app.yml. */
const TEXTS = ['LICENSE', 'README.md', 'SKILL.md', 'app.yml']

/** Makes the folder of the bundle the package that is published: the bundle carries its packages, so its manifest asks for none. */
export function packageFiles(root: string): Plugin {
  return {
    name: 'package-files',
    generateBundle() {
      const read = (file: string) => readFileSync(join(root, file), 'utf8')
      for (const fileName of TEXTS) this.emitFile({ type: 'asset', fileName, source: read(fileName) })
      this.emitFile({ type: 'asset', fileName: 'package.json', source: publishedManifest(read('package.json')) })
    },
  }
}

/** The manifest of the checkout without what only a checkout needs; its paths are those of the bundle. */
function publishedManifest(checkout: string): string {
  const { private: _, scripts, dependencies, devDependencies, ...published } = JSON.parse(checkout)
  return `${JSON.stringify(published, null, 2).replaceAll('./dist/', './').replaceAll('"dist/', '"')}\n`
}
