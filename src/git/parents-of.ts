/** The directories above a path, without the root. */
export function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) parents.push(path.slice(0, at))
  return parents
}
