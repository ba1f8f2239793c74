/** Folders of what is copied, tried or explained, and never applied where it lies. */
const ASIDE =
  /^(?:docs?|examples?|samples?|templates?|skeletons?|testdata|fixtures|cookiecutter.*|archived?|deprecated)$/i
const TESTS = /^(?:tests?|e2e|hack)$/i
const PARTS = /^(?:_.*|\..*)$/
const BASE = /(?:^|\/)bases?$/i

/** The same of a folder that nothing says anything of: one called `base` is a part of others then. */
export const isNoFolderOfACluster = (path: string): boolean => BASE.test(path) || isNotACluster(path)

/**
 * Whether nothing at a path is what a cluster starts from: hidden folders and those with an underscore (`_profiles`),
 * templates, documentation, examples and tests. A folder `test` below `clusters` is a cluster like any other.
 */
export function isNotACluster(path: string): boolean {
  const parts = path.split('/').filter(part => part !== '')
  const clusters = parts.indexOf('clusters')
  return parts.some((part, index) => {
    if (/[{}<>$]/.test(part) || PARTS.test(part)) return true
    if (clusters >= 0 && index > clusters) return false
    return ASIDE.test(part) || (index === 0 && TESTS.test(part)) || (TESTS.test(part) && clusters > index)
  })
}
