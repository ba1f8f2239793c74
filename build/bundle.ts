import { join } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { bundleThreads } from './bundle-threads.ts'
import { chunkGroups } from './chunk-groups.ts'
import { collectLicenses } from './collect-licenses.ts'
import { packageFiles } from './package-files.ts'

/** The programs of the package and of the image; each loads the chunks that it needs, and nothing else. */
const PROGRAMS = {
  bailiwick: 'src/surface/cli/bailiwick.js',
  main: 'src/surface/cli/main.ts',
  web: 'src/index.js',
  worker: 'workers/index.js',
  setup: 'src/surface/setup/index.js',
  probe: 'src/surface/web/probe.ts',
}

/** A native accelerator that msgpackr loads where it is installed; nothing installs it beside the bundle. */
const OPTIONAL = ['msgpackr-extract']

/** Writes the package into a folder, which is emptied first: all programs with what they import. Resolves with its chunks. */
export async function bundle(dist: string): Promise<readonly OutputChunk[]> {
  const root = join(import.meta.dirname, '..')
  const build = await rolldown({
    cwd: root,
    input: PROGRAMS,
    platform: 'node',
    // asked for by groups that leave packages where they are used; no program of ours is also imported by another
    preserveEntrySignatures: 'allow-extension',
    external: OPTIONAL,
    plugins: [
      yamlAsModules(join(root, 'node_modules')),
      bundleThreads(),
      collectLicenses(join(root, 'node_modules')),
      packageFiles(root),
    ],
    // bottleneck hides a require() from bundlers, of Redis clients that we do not give it
    checks: { eval: false },
    onLog: (_, log) => {
      throw new Error(log.message)
    },
  })
  const { output } = await build.write({
    dir: dist,
    cleanDir: true,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: chunkGroups(root) },
    // errors and logs name classes
    keepNames: true,
    sourcemap: true,
    // positions are what a stack trace needs; the sources are in the repository
    sourcemapExcludeSources: true,
  })
  await build.close()
  return output.filter(one => one.type === 'chunk')
}

/** The same sources of `yaml` as modules: `check` takes its lexer alone, where what `require` gives comes as a whole. */
function yamlAsModules(modules: string): Plugin {
  return {
    name: 'yaml-as-modules',
    resolveId: {
      filter: { id: /^yaml$/ },
      handler: (_, importer) =>
        importer?.startsWith(modules)
          ? undefined
          : { id: join(modules, 'yaml/browser/dist/index.js'), moduleSideEffects: false },
    },
  }
}
