/** Growth of times over sizes: the slope of the line through both logarithms. 1 is linear. */
export function growth(points: readonly (readonly [size: number, time: number])[]): number {
  const logs = points.map(([size, time]) => [Math.log(size), Math.log(time)] as const)
  const mean = (axis: 0 | 1) => logs.reduce((sum, point) => sum + point[axis], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const up = logs.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return up / logs.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

/** The value below which this part of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!
}
