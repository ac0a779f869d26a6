// ARX: whether a table satisfies a privacy model, with nothing to generalise and nothing to suppress.
//
//   java -cp ARX_AND_ITS_LIBRARIES vectors/adapters/Arx.java QUESTIONS
//
// QUESTIONS has a line for each vector: id, measure, threshold, l, sensitive column, order of its values (separated by
// \u0001), quasi-identifiers (likewise), path. Each answer is a line: id, figure, verdict, separated by tabs; a figure
// that ARX does not give is `-`; an exception is the figure `refuses`.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXPopulationModel;
import org.deidentifier.arx.ARXPopulationModel.Region;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.AttributeType.Hierarchy.DefaultHierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.DataType;
import org.deidentifier.arx.criteria.BasicBLikeness;
import org.deidentifier.arx.criteria.DDisclosurePrivacy;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EnhancedBLikeness;
import org.deidentifier.arx.criteria.EntropyLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.criteria.OrderedDistanceTCloseness;
import org.deidentifier.arx.criteria.PrivacyCriterion;
import org.deidentifier.arx.criteria.RecursiveCLDiversity;
import org.deidentifier.arx.risk.RiskEstimateBuilder;

public class Arx {
    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]), StandardCharsets.UTF_8)) {
            String[] question = line.split("\t", -1);
            String said;
            try {
                said = answer(question);
            } catch (Exception error) {
                said = "refuses\t" + error.getClass().getSimpleName();
            }
            System.out.println(question[0] + "\t" + said);
        }
    }

    private static String answer(String[] question) throws Exception {
        String measure = question[1], secret = question[4];
        List<String> known = Arrays.asList(question[6].split("\u0001"));
        Data data = Data.create(question[7], StandardCharsets.UTF_8, ',', '"');
        DataHandle table = data.getHandle();
        for (int column = 0; column < table.getNumColumns(); column++) {
            String name = table.getAttributeName(column);
            data.getDefinition().setDataType(name, DataType.STRING);
            data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
            if (known.contains(name)) data.getDefinition().setAttributeType(name, asItIs(table, column));
        }
        RiskEstimateBuilder risks = table.getRiskEstimator(ARXPopulationModel.create(Region.USA), Set.copyOf(known));
        switch (measure) {
            case "sample_uniqueness":
                return risks.getSampleBasedUniquenessRisk().getFractionOfUniqueRecords() + "\t";
            case "reidentification_risk:highest":
                return risks.getSampleBasedReidentificationRisk().getHighestRisk() + "\t";
            case "reidentification_risk:average":
                return risks.getSampleBasedReidentificationRisk().getAverageRisk() + "\t";
            case "reidentification_risk:share_above":
                double risk = Double.parseDouble(question[2]);
                return risks.getSampleBasedRiskSummary(risk).getProsecutorRisk().getRecordsAtRisk() + "\t";
            default:
        }
        if (!secret.isEmpty()) data.getDefinition().setAttributeType(secret, AttributeType.SENSITIVE_ATTRIBUTE);
        if (!question[5].isEmpty()) {
            data.getDefinition().setDataType(secret, DataType.createOrderedString(question[5].split("\u0001")));
        }
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(model(measure, secret, question[2], question[3]));
        configuration.setSuppressionLimit(0d);
        return "-\t" + (new ARXAnonymizer().anonymize(data, configuration).isResultAvailable() ? "pass" : "fail");
    }

    private static PrivacyCriterion model(String measure, String secret, String threshold, String l) {
        double limit = Double.parseDouble(threshold);
        switch (measure) {
            case "k_anonymity": return new KAnonymity((int) limit);
            case "distinct_l_diversity": return new DistinctLDiversity(secret, (int) limit);
            case "entropy_l_diversity": return new EntropyLDiversity(secret, limit);
            case "recursive_cl_diversity": return new RecursiveCLDiversity(secret, limit, Integer.parseInt(l));
            case "t_closeness_equal": return new EqualDistanceTCloseness(secret, limit);
            case "t_closeness_ordered": return new OrderedDistanceTCloseness(secret, limit);
            case "basic_beta_likeness": return new BasicBLikeness(secret, limit);
            case "enhanced_beta_likeness": return new EnhancedBLikeness(secret, limit);
            case "delta_disclosure": return new DDisclosurePrivacy(secret, limit);
            default: throw new IllegalArgumentException(measure);
        }
    }

    /** A hierarchy of one level: values stay as they are. */
    private static Hierarchy asItIs(DataHandle table, int column) {
        DefaultHierarchy hierarchy = Hierarchy.create();
        Set<String> values = new LinkedHashSet<>();
        for (int row = 0; row < table.getNumRows(); row++) values.add(table.getValue(row, column));
        for (String value : values) hierarchy.add(value);
        return hierarchy;
    }
}
