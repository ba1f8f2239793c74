import type { Plugin } from 'rolldown'

const ADDRESS = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

/** A thread's file is named by its address and not imported: `new URL('./thread.ts', import.meta.url)` becomes a program of its own. */
export function bundleThreads(): Plugin {
  return {
    name: 'bundle-threads',
    transform: {
      filter: { code: ADDRESS },
      async handler(code, importer) {
        const files = new Map<string, string>()
        for (const [, address = ''] of code.matchAll(ADDRESS)) {
          const file = await this.resolve(address, importer)
          if (!file) this.error(`${importer}: ${address} is not a file`)
          files.set(address, this.emitFile({ type: 'chunk', id: file.id }))
        }
        const bundled = code.replaceAll(ADDRESS, (_, file) => `new URL(import.meta.ROLLUP_FILE_URL_${files.get(file)})`)
        return { code: bundled, map: null } // lines stay where they are
      },
    },
  }
}
